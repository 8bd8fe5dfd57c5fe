//! Address groups: the unit by which limits on anonymous requests count.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One IPv4 address, or one IPv6 network of 64 bits. A household or a rented server has a whole /64, so counting single
/// IPv6 addresses would count nothing. Every limit on anonymous requests takes its key from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AddressGroup {
    V4(Ipv4Addr),
    /// The first 64 bits.
    V6(u64),
    /// Requests whose address is not known share one group.
    #[default]
    Unknown,
}

impl AddressGroup {
    /// IPv4-mapped addresses (`::ffff:192.0.2.1`) are IPv4. So are 6to4 networks (`2002::/16`), because the holder of
    /// one IPv4 address has 65,536 of them.
    pub fn of(address: IpAddr) -> AddressGroup {
        match address.to_canonical() {
            IpAddr::V4(address) => AddressGroup::V4(address),
            IpAddr::V6(address) => match six_to_four(address) {
                Some(address) => AddressGroup::V4(address),
                None => AddressGroup::V6((address.to_bits() >> 64) as u64),
            },
        }
    }

    /// The group of an address as text. Text that is no address belongs to the unknown group.
    pub fn parse(address: Option<&str>) -> AddressGroup {
        let parsed = address.and_then(|it| it.parse().ok());
        parsed.map_or(AddressGroup::Unknown, AddressGroup::of)
    }
}

fn six_to_four(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [first, high, low, ..] = address.segments();
    (first == 0x2002).then(|| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

impl fmt::Display for AddressGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressGroup::V4(address) => address.fmt(f),
            AddressGroup::V6(network) => {
                write!(f, "{}/64", Ipv6Addr::from_bits(u128::from(*network) << 64))
            }
            AddressGroup::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(address: &str) -> String {
        AddressGroup::parse(Some(address)).to_string()
    }

    #[test]
    fn an_ipv6_network_is_one_group_and_every_ipv4_address_is_its_own() {
        assert_eq!(group("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(group("2001:db8:1:2:ffff::1"), "2001:db8:1:2::/64");
        assert_eq!(group("2001:db8:1:3::1"), "2001:db8:1:3::/64");
        assert_eq!(group("::1"), "::/64");
        assert_eq!(group("192.0.2.1"), "192.0.2.1");
        assert_eq!(group("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(group("2002:c000:201:7::9"), "192.0.2.1");
        assert_eq!(group("fe80::1%eth0"), "unknown");
        assert_eq!(group("somewhere"), "unknown");
        assert_eq!(AddressGroup::parse(None), AddressGroup::Unknown);
        // The network that begins with zeros is not the unknown group.
        assert_ne!(AddressGroup::parse(Some("::2")), AddressGroup::default());
    }
}
