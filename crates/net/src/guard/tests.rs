//! Tests of which addresses may be connected to.

use std::net::{IpAddr, SocketAddr};

use proptest::prelude::*;

use base::{Network, NetworkError};

use super::Guard;
use crate::failure::Failure;

fn public(allow: &[&str]) -> Guard {
    Guard::Public { allow: allow.iter().map(|it| it.parse().unwrap()).collect() }
}

fn admits(guard: &Guard, addresses: &[&str]) -> bool {
    let found: Vec<SocketAddr> = addresses
        .iter()
        .map(|it| SocketAddr::new(it.parse().unwrap_or_else(|_| panic!("{it}")), 443))
        .collect();
    match guard.admit(&found) {
        Ok(()) => true,
        Err(failure) => {
            assert_eq!(failure, Failure::BlockedAddress);
            false
        }
    }
}

/// Both ends of every special-purpose range.
const REFUSED: [&str; 68] = [
    // Unspecified, and "this network".
    "0.0.0.0",
    "0.255.255.255",
    "::",
    // Loopback.
    "127.0.0.0",
    "127.0.0.1",
    "127.255.255.255",
    "::1",
    // Private.
    "10.0.0.0",
    "10.255.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.168.0.0",
    "192.168.255.255",
    "fc00::",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    // Carrier-grade NAT.
    "100.64.0.0",
    "100.127.255.255",
    // Link-local, and the deprecated site-local.
    "169.254.0.0",
    "169.254.255.255",
    "fe80::",
    "febf:ffff::1",
    "fec0::1",
    // Cloud metadata services.
    "169.254.169.254",
    "169.254.170.2",
    "168.63.129.16",
    "100.100.100.200",
    "192.0.0.192",
    "fd00:ec2::254",
    "fd20:ce::254",
    // Protocol assignments, the deprecated 6to4 relay, benchmarking.
    "192.0.0.0",
    "192.0.0.255",
    "192.88.99.1",
    "198.18.0.0",
    "198.19.255.255",
    "2001:2::1",
    "2001:1ff:ffff::1",
    // Documentation.
    "192.0.2.0",
    "192.0.2.255",
    "198.51.100.7",
    "203.0.113.7",
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff::1",
    "3fff:fff:ffff::1",
    // Multicast, reserved, broadcast.
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.254",
    "255.255.255.255",
    "ff02::1",
    "ff0e::1",
    // Embedded IPv4 addresses: mapped, compatible, translated, NAT64, 6to4, Teredo. Public ones are refused too,
    // because no honest host name resolves to them.
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:8.8.8.8",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    // Discard-only, segment routing, and unassigned.
    "100::1",
    "5f00::1",
    "4000::1",
    "1fff:ffff::1",
];

#[test]
fn addresses_that_are_not_public_are_refused() {
    for address in REFUSED {
        assert!(!admits(&public(&[]), &[address]), "{address}");
    }
}

#[test]
fn public_addresses_next_to_special_ranges_are_allowed() {
    for address in [
        "1.0.0.0",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::1",
        "2001:200::1",
        "2001:db7:ffff::1",
        "2001:db9::1",
        "2003::1",
        "2606:4700::6810:85e5",
        "3ffe:ffff::1",
        "3fff:1000::1",
    ] {
        assert!(admits(&public(&[]), &[address]), "{address}");
    }
}

#[test]
fn one_address_that_is_not_public_blocks_the_host() {
    let guard = public(&[]);
    assert!(admits(&guard, &["8.8.8.8", "2606:4700::1"]));
    assert!(!admits(&guard, &["8.8.8.8", "2606:4700::1", "10.0.0.1"]));
    assert!(!admits(&guard, &["::1", "8.8.8.8"]));
}

#[test]
fn the_operator_can_allow_private_networks() {
    let guard = public(&["192.168.1.0/24", "fd12:3456::/32", "127.0.0.1", "::1"]);
    for address in ["192.168.1.1", "192.168.1.255", "fd12:3456:1::9", "127.0.0.1", "::1", "8.8.8.8"]
    {
        assert!(admits(&guard, &[address]), "{address}");
    }
    for address in ["192.168.2.1", "192.168.0.255", "fd12:3457::1", "127.0.0.2", "::2"] {
        assert!(!admits(&guard, &[address]), "{address}");
    }
    assert!(!admits(&guard, &["::ffff:192.168.1.1"]));
}

#[test]
fn metadata_and_embedded_addresses_stay_refused_even_if_allowed() {
    let guard = public(&["0.0.0.0/0", "::/0"]);
    assert!(admits(&guard, &["10.0.0.1", "127.0.0.1", "::1", "fe80::1"]));
    for address in [
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "::ffff:0:169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "2001:0:4136:e378:8000:63bf:5601:5601",
    ] {
        assert!(!admits(&guard, &[address]), "{address}");
    }
}

#[test]
fn the_operators_own_urls_may_use_any_address() {
    assert!(admits(&Guard::Any, &["127.0.0.1", "10.0.0.1", "8.8.8.8"]));
}

#[test]
fn networks_are_parsed_strictly() {
    for good in ["10.0.0.0/8", "0.0.0.0/0", "10.1.2.3/32", "10.1.2.3", "::/0", "fd00::/8", "::1"] {
        assert!(good.parse::<Network>().is_ok(), "{good}");
    }
    for bad in [
        "",
        "/",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.1/8",
        "10.0.0.0/+8",
        "10.0.0.0/-1",
        "10/8",
        "010.0.0.0/8",
        "::/129",
        "fd00::1/8",
        "fe80::1%eth0",
        "localhost",
        "10.0.0.0/8/8",
        " ::1",
        "10.0.0.0/99999999999",
    ] {
        assert_eq!(bad.parse::<Network>(), Err(NetworkError), "{bad}");
    }
}

proptest! {
    /// Compares our list with the standard library's.
    #[test]
    fn addresses_that_the_standard_library_calls_special_are_refused(bits: u32, wide: u128) {
        let narrow = std::net::Ipv4Addr::from_bits(bits);
        if narrow.is_private() || narrow.is_loopback() || narrow.is_link_local()
            || narrow.is_broadcast() || narrow.is_documentation() || narrow.is_multicast()
            || narrow.is_unspecified()
        {
            prop_assert!(public(&[]).admit(&[SocketAddr::new(narrow.into(), 1)]).is_err());
        }
        let wide = std::net::Ipv6Addr::from_bits(wide);
        if wide.is_unique_local() || wide.is_loopback() || wide.is_unicast_link_local()
            || wide.is_multicast() || wide.to_ipv4().is_some()
        {
            prop_assert!(public(&[]).admit(&[SocketAddr::new(wide.into(), 1)]).is_err());
        }
    }

    /// An IPv4 address embedded in an IPv6 address is refused in every form.
    #[test]
    fn embedded_addresses_are_refused(bits: u32, end: u64) {
        let inner = u128::from(bits);
        for outer in [
            0xffff << 32 | inner,
            0xffff << 48 | inner,
            inner,
            0x64_ff9b << 96 | inner,
            0x64_ff9b_0001 << 80 | inner,
            0x2002 << 112 | inner << 80 | u128::from(end),
            0x2001_0000 << 96 | u128::from(end),
        ] {
            let outer: IpAddr = std::net::Ipv6Addr::from_bits(outer).into();
            prop_assert!(public(&[]).admit(&[SocketAddr::new(outer, 1)]).is_err(), "{outer}");
        }
    }
}
