//! The people of the household and the town they live in; a seed picks one of each.

/// A town and its local companies.
pub(super) struct Town {
    pub(super) city: &'static str,
    pub(super) state: &'static str,
    pub(super) near: [&'static str; 3],
    pub(super) street: &'static str,
    pub(super) power: (&'static str, &'static str),
    pub(super) water: (&'static str, &'static str),
    pub(super) transit: (&'static str, &'static str),
    pub(super) fare_minor: i64,
    pub(super) state_refund: &'static str,
}

pub(super) const TOWNS: [Town; 5] = [
    Town {
        city: "OAKLAND",
        state: "CA",
        near: ["BERKELEY", "ALAMEDA", "SAN LEANDRO"],
        street: "1400 BROADWAY",
        power: ("PG&E", "PGANDE WEB ONLINE"),
        water: ("EBMUD", "EBMUD WATER"),
        transit: ("Clipper", "CLIPPER SYSTEMS FARE"),
        fare_minor: 2_50,
        state_refund: "FRANCHISE TAX BD CASTTAXRFD",
    },
    Town {
        city: "DENVER",
        state: "CO",
        near: ["LAKEWOOD", "AURORA", "ENGLEWOOD"],
        street: "303 E 17TH AVE",
        power: ("Xcel Energy", "XCEL ENERGY-PSCO"),
        water: ("Denver Water", "DENVER WATER BILL"),
        transit: ("RTD", "RTD MYRIDE"),
        fare_minor: 2_75,
        state_refund: "STATE OF COLORADO TAXREFUND",
    },
    Town {
        city: "CHICAGO",
        state: "IL",
        near: ["EVANSTON", "OAK PARK", "CICERO"],
        street: "2740 N CLARK ST",
        power: ("ComEd", "COMED PAYMENT"),
        water: ("Chicago Water", "CHGO WATER BILL"),
        transit: ("Ventra", "VENTRA VENDING CTA"),
        fare_minor: 2_50,
        state_refund: "IL STATE COMPTRLR TAX RFND",
    },
    Town {
        city: "PHILADELPHIA",
        state: "PA",
        near: ["ARDMORE", "CHELTENHAM", "UPPER DARBY"],
        street: "1735 MARKET ST",
        power: ("PECO Energy", "PECOENERGY UTILITY"),
        water: ("Philadelphia Water", "PHILA WATER REV"),
        transit: ("SEPTA", "SEPTA KEY CARD"),
        fare_minor: 2_90,
        state_refund: "PA DEPT OF REV PATAXREFND",
    },
    Town {
        city: "MINNEAPOLIS",
        state: "MN",
        near: ["EDINA", "ST PAUL", "RICHFIELD"],
        street: "33 S 6TH ST",
        power: ("CenterPoint Energy", "CPENERGY ENTEX"),
        water: ("Minneapolis Water", "MPLS UTILITY BILL"),
        transit: ("Metro Transit", "METRO TRANSIT GOTO"),
        fare_minor: 2_00,
        state_refund: "STATE OF MN DOR TAX RFND",
    },
];

/// The first names of both adults and the family name, as printed on transfers.
pub(super) struct People {
    pub(super) first: &'static str,
    pub(super) second: &'static str,
    pub(super) family: &'static str,
}

pub(super) const PEOPLE: [People; 5] = [
    People { first: "Maya", second: "Daniel", family: "Reyes" },
    People { first: "Priya", second: "Tom", family: "Halvorsen" },
    People { first: "Grace", second: "Omar", family: "Lindqvist" },
    People { first: "Elena", second: "Marcus", family: "Whitfield" },
    People { first: "Hannah", second: "Kenji", family: "Moreau" },
];

pub(super) const FRIENDS: [&str; 7] = [
    "SAM OKAFOR",
    "JULIE BERGSTROM",
    "A PATEL",
    "NOAH KIM",
    "ROSA DELGADO",
    "CHRIS WEAVER",
    "LENA FISCHER",
];

/// The employer's name, and its name on payroll deposits.
pub(super) const FIRST_EMPLOYERS: [(&str, &str); 4] = [
    ("Bayline Health", "BAYLINE HEALTH SYS"),
    ("Corvid Robotics", "CORVID ROBOTICS IN"),
    ("Summit Unified Schools", "SUMMIT USD"),
    ("Harbor Design Studio", "HARBOR DESIGN STUD"),
];

pub(super) const SECOND_EMPLOYERS: [(&str, &str); 4] = [
    ("Northwind Logistics", "NORTHWIND LOGISTICS"),
    ("Tallgrass Media", "TALLGRASS MEDIA"),
    ("City Parks Department", "CITY PARKS DEPT"),
    ("Ironbridge Software", "IRONBRIDGE SOFTW"),
];
