//! Everyday merchants of the euro area, chains and corner shops.

use super::Group;

const fn group(
    category: &'static str,
    typical_minor: i64,
    small: bool,
    names: &'static [(&'static str, &'static str)],
) -> Group {
    Group { category, typical_minor, small, names }
}

pub(super) const GROUPS: &[Group] = &[
    group(
        "FOOD_AND_DRINK_GROCERIES",
        4_800,
        false,
        &[
            ("Rewe", "REWE SAGT DANKE"),
            ("Edeka", "EDEKA"),
            ("Lidl", "LIDL DIENSTLEISTUNG"),
            ("Aldi Süd", "ALDI SUED"),
            ("Albert Heijn", "ALBERT HEIJN"),
            ("Jumbo", "JUMBO"),
            ("Carrefour", "CARREFOUR MARKET"),
            ("Monoprix", "MONOPRIX"),
            ("Mercadona", "MERCADONA"),
            ("Esselunga", "ESSELUNGA"),
            ("Coop Italia", "COOP"),
            ("Spar", "SPAR"),
        ],
    ),
    group(
        "FOOD_AND_DRINK_GROCERIES",
        1_900,
        true,
        &[
            ("Bäckerei Lindner", "BAECKEREI LINDNER"),
            ("Hofladen Brandt", "HOFLADEN BRANDT"),
            ("Boucherie Martin", "BOUCHERIE MARTIN"),
        ],
    ),
    group(
        "FOOD_AND_DRINK_COFFEE",
        380,
        true,
        &[
            ("Café Morgenrot", "CAFE MORGENROT"),
            ("Coffee Fellows", "COFFEE FELLOWS"),
            ("Koffiehuis De Molen", "KOFFIEHUIS DE MOLEN"),
            ("Bar Centrale", "BAR CENTRALE"),
        ],
    ),
    group(
        "FOOD_AND_DRINK_FAST_FOOD",
        1_050,
        false,
        &[
            ("Burger King", "BURGER KING"),
            ("Quick", "QUICK"),
            ("FEBO", "FEBO"),
            ("Nordsee", "NORDSEE"),
            ("Telepizza", "TELEPIZZA"),
        ],
    ),
    group(
        "FOOD_AND_DRINK_RESTAURANT",
        3_700,
        true,
        &[
            ("Gasthaus Zur Linde", "GASTHAUS ZUR LINDE"),
            ("Trattoria Da Piero", "TRATTORIA DA PIERO"),
            ("Le Petit Zinc", "LE PETIT ZINC"),
            ("Taverna Elia", "TAVERNA ELIA"),
            ("Eetcafé 't Hoekje", "EETCAFE T HOEKJE"),
            ("Casa Lucio", "CASA LUCIO"),
            ("Asia Wok Palast", "ASIA WOK PALAST"),
        ],
    ),
    group(
        "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES",
        2_700,
        false,
        &[
            ("Amazon", "AMZN MKTP DE|AMAZON EU S.A R.L."),
            ("bol.com", "BOL.COM"),
            ("Vinted", "VINTED"),
            ("Cdiscount", "CDISCOUNT"),
        ],
    ),
    group(
        "GENERAL_MERCHANDISE_DISCOUNT_STORES",
        1_300,
        false,
        &[("Action", "ACTION"), ("HEMA", "HEMA"), ("TEDi", "TEDI FIL.")],
    ),
    group(
        "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES",
        4_700,
        false,
        &[
            ("Zara", "ZARA"),
            ("C&A", "C&A"),
            ("Decathlon", "DECATHLON"),
            ("Zalando", "ZALANDO PAYMENTS"),
        ],
    ),
    group(
        "GENERAL_MERCHANDISE_ELECTRONICS",
        8_900,
        false,
        &[("MediaMarkt", "MEDIA MARKT"), ("Coolblue", "COOLBLUE"), ("Fnac", "FNAC")],
    ),
    group(
        "GENERAL_MERCHANDISE_DEPARTMENT_STORES",
        5_100,
        false,
        &[("El Corte Inglés", "EL CORTE INGLES"), ("De Bijenkorf", "DE BIJENKORF")],
    ),
    group(
        "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS",
        1_700,
        false,
        &[("Thalia", "THALIA BUECHER"), ("Relay", "RELAY")],
    ),
    group(
        "HOME_IMPROVEMENT_HARDWARE",
        4_100,
        false,
        &[("Obi", "OBI BAU"), ("Leroy Merlin", "LEROY MERLIN"), ("Gamma", "GAMMA BOUWMARKT")],
    ),
    group("HOME_IMPROVEMENT_FURNITURE", 16_000, false, &[("IKEA Europe", "IKEA EINRICHTUNG")]),
    group(
        "MEDICAL_PHARMACIES_AND_SUPPLEMENTS",
        1_500,
        true,
        &[
            ("Löwen-Apotheke", "LOEWEN APOTHEKE"),
            ("Pharmacie du Marché", "PHARMACIE DU MARCHE"),
            ("dm-drogerie markt", "DM-DROGERIE MARKT"),
        ],
    ),
    group("MEDICAL_DENTAL_CARE", 9_800, true, &[("Zahnarztpraxis Keller", "ZAHNARZT KELLER")]),
    group(
        "PERSONAL_CARE_HAIR_AND_BEAUTY",
        3_600,
        true,
        &[
            ("Friseur Haarwerk", "FRISEUR HAARWERK"),
            ("Kapsalon Silke", "KAPSALON SILKE"),
            ("Salone Bellezza", "SALONE BELLEZZA"),
        ],
    ),
    group(
        "TRANSPORTATION_GAS",
        5_600,
        false,
        &[
            ("Aral", "ARAL STATION"),
            ("TotalEnergies", "TOTALENERGIES"),
            ("Repsol", "REPSOL"),
            ("Eni", "ENI STATION"),
            ("Tango", "TANGO"),
        ],
    ),
    group(
        "TRANSPORTATION_PUBLIC_TRANSIT",
        320,
        false,
        &[
            ("NS Reizigers", "NS GROEP"),
            ("BVG", "BVG APP"),
            ("RATP", "RATP"),
            ("ATM Milano", "ATM MILANO"),
        ],
    ),
    group(
        "TRANSPORTATION_PARKING",
        1_200,
        false,
        &[("EasyPark", "EASYPARK"), ("Apcoa", "APCOA PARKING")],
    ),
    group(
        "TRANSPORTATION_TAXIS_AND_RIDE_SHARES",
        1_700,
        false,
        &[("Bolt", "BOLT.EU"), ("FREE NOW", "FREE NOW")],
    ),
    group("TRANSPORTATION_TOLLS", 2_500, false, &[("Télépéage Vinci", "VINCI AUTOROUTES")]),
    group(
        "GENERAL_SERVICES_AUTOMOTIVE",
        9_500,
        true,
        &[("Autohaus Weber", "AUTOHAUS WEBER"), ("Norauto", "NORAUTO")],
    ),
    group(
        "GENERAL_SERVICES_POSTAGE_AND_SHIPPING",
        890,
        false,
        &[("Deutsche Post", "DEUTSCHE POST"), ("PostNL", "POSTNL")],
    ),
    group(
        "GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT",
        70_000,
        false,
        &[("Finanzamt", "FINANZAMT"), ("Belastingdienst", "BELASTINGDIENST")],
    ),
    group(
        "ENTERTAINMENT_TV_AND_MOVIES",
        2_200,
        false,
        &[("Pathé", "PATHE"), ("CinemaxX", "CINEMAXX")],
    ),
    group(
        "ENTERTAINMENT_SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS",
        3_900,
        false,
        &[("Eventim", "EVENTIM"), ("Museum Ludwig", "MUSEUM LUDWIG")],
    ),
    group("TRAVEL_FLIGHTS", 14_000, false, &[("Ryanair", "RYANAIR"), ("Vueling", "VUELING")]),
    group(
        "TRAVEL_LODGING",
        15_000,
        false,
        &[("Booking.com", "BOOKING.COM"), ("Ibis Hotels", "IBIS HOTEL")],
    ),
    group(
        "TRAVEL_OTHER_TRAVEL",
        6_900,
        false,
        &[("Deutsche Bahn", "DB VERTRIEB GMBH"), ("SNCF", "SNCF INTERNET")],
    ),
];
