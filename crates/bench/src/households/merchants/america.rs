//! Everyday merchants of the United States, chains and corner shops.

use super::Group;

const fn chain(
    category: &'static str,
    typical_minor: i64,
    names: &'static [(&'static str, &'static str)],
) -> Group {
    Group { category, typical_minor, small: false, names }
}

const fn small(
    category: &'static str,
    typical_minor: i64,
    names: &'static [(&'static str, &'static str)],
) -> Group {
    Group { category, typical_minor, small: true, names }
}

pub(super) const GROUPS: &[Group] = &[
    chain(
        "FOOD_AND_DRINK_GROCERIES",
        7_400,
        &[
            ("Trader Joe's", "TRADER JOE S"),
            ("Safeway", "SAFEWAY"),
            ("Kroger", "KROGER"),
            ("Publix", "PUBLIX SUPER MAR"),
            ("H-E-B", "H-E-B"),
            ("Wegmans", "WEGMANS"),
            ("Aldi US", "ALDI"),
            ("Sprouts", "SPROUTS FARMERS MAR"),
            ("WinCo Foods", "WINCO FOODS"),
            ("Hy-Vee", "HY-VEE"),
            ("Giant Eagle", "GIANT-EAGLE"),
            ("Food Lion", "FOOD LION"),
            ("Stop & Shop", "STOP & SHOP"),
            ("Winn-Dixie", "WINN-DIXIE"),
            ("Whole Foods", "WHOLEFDS"),
            ("Smart & Final", "SMART AND FINAL"),
            ("Fred Meyer", "FRED-MEYER"),
            ("Piggly Wiggly", "PIGGLY WIGGLY"),
            ("Market Basket", "MARKET BASKET"),
        ],
    ),
    small(
        "FOOD_AND_DRINK_GROCERIES",
        3_100,
        &[
            ("Larkspur Produce", "LARKSPUR PRODUCE"),
            ("Ortega Family Market", "ORTEGA FAMILY MARKET"),
            ("Hill Street Food Co-op", "HILL ST FOOD COOP"),
        ],
    ),
    chain(
        "FOOD_AND_DRINK_COFFEE",
        575,
        &[
            ("Starbucks", "STARBUCKS STORE"),
            ("Dunkin'", "DUNKIN"),
            ("Peet's Coffee", "PEET'S COFFEE"),
            ("Dutch Bros", "DUTCH BROS COFFEE"),
            ("Caribou Coffee", "CARIBOU COFFEE CO"),
        ],
    ),
    small(
        "FOOD_AND_DRINK_COFFEE",
        525,
        &[
            ("Copper Kettle Coffee", "COPPER KETTLE COFFEE"),
            ("Night Heron Espresso", "NIGHT HERON ESPRESSO"),
            ("Paper Crane Cafe", "PAPER CRANE CAFE"),
            ("Two Rivers Roasters", "TWO RIVERS ROASTERS"),
        ],
    ),
    chain(
        "FOOD_AND_DRINK_FAST_FOOD",
        1_350,
        &[
            ("McDonald's", "MCDONALD'S F"),
            ("Chipotle", "CHIPOTLE"),
            ("Taco Bell", "TACO BELL"),
            ("Wendy's", "WENDYS"),
            ("In-N-Out Burger", "IN-N-OUT BURGER"),
            ("Chick-fil-A", "CHICK-FIL-A"),
            ("Panda Express", "PANDA EXPRESS"),
            ("Five Guys", "FIVE GUYS"),
            ("Culver's", "CULVERS OF"),
            ("Whataburger", "WHATABURGER"),
        ],
    ),
    small(
        "FOOD_AND_DRINK_RESTAURANT",
        4_300,
        &[
            ("Saffron House", "SAFFRON HOUSE"),
            ("Basil & Smoke", "BASIL AND SMOKE"),
            ("Little Lantern Noodles", "LITTLE LANTERN NOODLES"),
            ("The Gilded Oyster", "THE GILDED OYSTER"),
            ("Casa Amapola", "CASA AMAPOLA"),
            ("Ember & Ash Grill", "EMBER & ASH GRILL"),
            ("Pho Bach Viet", "PHO BACH VIET"),
            ("Marigold Diner", "MARIGOLD DINER"),
            ("Sushi Tanuki", "SUSHI TANUKI"),
            ("Old Mill Pizzeria", "OLD MILL PIZZERIA"),
            ("Blue Corn Taqueria", "BLUE CORN TAQUERIA"),
            ("Harbor Light Seafood", "HARBOR LIGHT SEAFOOD"),
        ],
    ),
    chain(
        "FOOD_AND_DRINK_RESTAURANT",
        3_600,
        &[
            ("Olive Garden", "OLIVE GARDEN"),
            ("Applebee's", "APPLEBEES"),
            ("Texas Roadhouse", "TEXAS ROADHOUSE"),
            ("DoorDash", "DOORDASH*ORDER"),
        ],
    ),
    small(
        "FOOD_AND_DRINK_BEER_WINE_AND_LIQUOR",
        2_700,
        &[
            ("Crooked Cork Wines", "CROOKED CORK WINES"),
            ("BevMo!", "BEVMO"),
            ("Hopyard Bottle Shop", "HOPYARD BOTTLE SHOP"),
        ],
    ),
    chain("FOOD_AND_DRINK_VENDING_MACHINES", 225, &[("Canteen Vending", "CTLP*CANTEEN VENDING")]),
    chain(
        "GENERAL_MERCHANDISE_SUPERSTORES",
        6_200,
        &[
            ("Walmart", "WAL-MART"),
            ("Target", "TARGET"),
            ("Costco", "COSTCO WHSE"),
            ("Sam's Club", "SAMSCLUB"),
            ("Meijer", "MEIJER STORE"),
        ],
    ),
    chain(
        "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES",
        2_900,
        &[
            ("Amazon", "AMAZON MKTPL*|AMZN MKTP US*"),
            ("eBay", "EBAY O*"),
            ("Etsy", "ETSY.COM*"),
            ("Temu", "TEMU.COM"),
        ],
    ),
    chain(
        "GENERAL_MERCHANDISE_CONVENIENCE_STORES",
        950,
        &[("7-Eleven", "7-ELEVEN"), ("Wawa", "WAWA"), ("Casey's", "CASEYS"), ("Sheetz", "SHEETZ")],
    ),
    chain(
        "GENERAL_MERCHANDISE_DISCOUNT_STORES",
        1_900,
        &[
            ("Dollar Tree", "DOLLARTREE"),
            ("Dollar General", "DOLLAR GENERAL"),
            ("Five Below", "FIVE BELOW"),
            ("Ollie's", "OLLIES BARGAIN OUTLET"),
        ],
    ),
    chain(
        "GENERAL_MERCHANDISE_DEPARTMENT_STORES",
        5_800,
        &[
            ("Macy's", "MACYS"),
            ("Kohl's", "KOHL'S"),
            ("Nordstrom", "NORDSTROM"),
            ("JCPenney", "JCPENNEY"),
        ],
    ),
    chain(
        "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES",
        5_400,
        &[
            ("Old Navy", "OLD NAVY US"),
            ("Uniqlo US", "UNIQLO USA"),
            ("T.J. Maxx", "TJMAXX"),
            ("Foot Locker", "FOOT LOCKER"),
            ("Everlane", "EVERLANE"),
            ("Allbirds", "ALLBIRDS"),
        ],
    ),
    chain(
        "GENERAL_MERCHANDISE_ELECTRONICS",
        9_500,
        &[("Best Buy", "BEST BUY"), ("Micro Center", "MICRO CENTER"), ("B&H Photo", "B&H PHOTO")],
    ),
    chain(
        "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS",
        2_300,
        &[
            ("Barnes & Noble", "BARNES & NOBLE"),
            ("Powell's Books", "POWELLS BOOKS"),
            ("Hudson News", "HUDSON NEWS"),
        ],
    ),
    chain(
        "GENERAL_MERCHANDISE_PET_SUPPLIES",
        4_700,
        &[("Petco", "PETCO"), ("PetSmart", "PETSMART"), ("Chewy", "CHEWY.COM")],
    ),
    chain(
        "GENERAL_MERCHANDISE_SPORTING_GOODS",
        6_600,
        &[
            ("REI", "REI.COM"),
            ("Dick's Sporting Goods", "DICKS SPORTING GOODS"),
            ("Academy Sports", "ACADEMY SPORTS"),
        ],
    ),
    chain(
        "GENERAL_MERCHANDISE_OFFICE_SUPPLIES",
        2_400,
        &[("Staples", "STAPLES"), ("Office Depot", "OFFICE DEPOT")],
    ),
    small(
        "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES",
        2_800,
        &[("Thistle & Thread Gifts", "THISTLE & THREAD GIFTS"), ("Hallmark", "HALLMARK CARDS")],
    ),
    small(
        "GENERAL_MERCHANDISE_TOBACCO_AND_VAPE",
        2_100,
        &[("Cloud Nine Vapor", "CLOUD NINE VAPOR")],
    ),
    chain(
        "HOME_IMPROVEMENT_HARDWARE",
        4_600,
        &[
            ("Home Depot", "THE HOME DEPOT"),
            ("Lowe's", "LOWES"),
            ("Ace Hardware", "ACE HARDWARE"),
            ("Harbor Freight", "HARBOR FREIGHT TOOLS"),
            ("Menards", "MENARDS"),
        ],
    ),
    chain(
        "HOME_IMPROVEMENT_FURNITURE",
        18_000,
        &[("IKEA US", "IKEA"), ("Wayfair", "WAYFAIR*WAYFAIR"), ("West Elm", "WEST ELM")],
    ),
    small(
        "HOME_IMPROVEMENT_REPAIR_AND_MAINTENANCE",
        21_000,
        &[
            ("Delgado Plumbing", "DELGADO PLUMBING"),
            ("Northside HVAC", "NORTHSIDE HVAC"),
            ("Roto-Rooter", "ROTO-ROOTER"),
        ],
    ),
    chain(
        "MEDICAL_PHARMACIES_AND_SUPPLEMENTS",
        1_900,
        &[
            ("CVS Pharmacy", "CVS/PHARMACY"),
            ("Walgreens", "WALGREENS"),
            ("Rite Aid", "RITE AID"),
            ("GNC", "GNC"),
        ],
    ),
    small(
        "MEDICAL_PRIMARY_CARE",
        6_000,
        &[
            ("Willow Creek Family Medicine", "WILLOW CREEK FAM MED"),
            ("Kaiser Permanente", "KAISER PERMANENTE"),
            ("MinuteClinic", "MINUTECLINIC"),
        ],
    ),
    small(
        "MEDICAL_DENTAL_CARE",
        14_500,
        &[("Dr. Okafor DDS", "OKAFOR DDS PLLC"), ("Aspen Dental", "ASPEN DENTAL")],
    ),
    small(
        "MEDICAL_EYE_CARE",
        11_000,
        &[("Warby Parker", "WARBY PARKER"), ("Clearview Optometry", "CLEARVIEW OPTOMETRY")],
    ),
    small(
        "MEDICAL_VETERINARY_SERVICES",
        12_500,
        &[
            ("Banfield Pet Hospital", "BANFIELD PET HOSPITAL"),
            ("Maple Lane Animal Clinic", "MAPLE LANE ANIMAL CLIN"),
        ],
    ),
    small(
        "PERSONAL_CARE_HAIR_AND_BEAUTY",
        5_200,
        &[
            ("Great Clips", "GREAT CLIPS"),
            ("Sephora", "SEPHORA"),
            ("Velvet Shears Salon", "VELVET SHEARS SALON"),
            ("Kingsley Barber Co", "KINGSLEY BARBER CO"),
            ("Lotus Nails & Spa", "LOTUS NAILS SPA"),
        ],
    ),
    small(
        "PERSONAL_CARE_LAUNDRY_AND_DRY_CLEANING",
        1_800,
        &[
            ("Sunny Day Cleaners", "SUNNY DAY CLEANERS"),
            ("WaveRider Laundromat", "WAVERIDER LAUNDROMAT"),
        ],
    ),
    chain(
        "TRANSPORTATION_GAS",
        4_400,
        &[
            ("Shell", "SHELL OIL"),
            ("Chevron", "CHEVRON"),
            ("Exxon", "EXXON"),
            ("QuikTrip", "QT"),
            ("Speedway", "SPEEDWAY"),
            ("Circle K", "CIRCLE K"),
            ("Buc-ee's", "BUC-EE'S"),
        ],
    ),
    chain(
        "TRANSPORTATION_PUBLIC_TRANSIT",
        290,
        &[
            ("MTA OMNY", "MTA*NYCT PAYGO"),
            ("Clipper", "CLIPPER TRANSIT FARE"),
            ("CTA Ventra", "VENTRA MOBILE"),
            ("SEPTA Key", "SEPTA KEY"),
        ],
    ),
    chain(
        "TRANSPORTATION_TAXIS_AND_RIDE_SHARES",
        1_900,
        &[("Uber", "UBER *TRIP"), ("Lyft", "LYFT *RIDE"), ("Curb Taxi", "CURB SVC")],
    ),
    chain(
        "TRANSPORTATION_PARKING",
        1_200,
        &[
            ("ParkMobile", "PARKMOBILE"),
            ("SP+ Parking", "SP PLUS PARKING"),
            ("City Center Garage", "CITY CENTER GARAGE"),
        ],
    ),
    chain(
        "TRANSPORTATION_TOLLS",
        2_500,
        &[("E-ZPass", "E-ZPASS REPLENISH"), ("FasTrak", "FASTRAK CSC")],
    ),
    chain(
        "TRANSPORTATION_BIKES_AND_SCOOTERS",
        480,
        &[("Lime", "LIME*RIDE"), ("Citi Bike", "CITI BIKE")],
    ),
    chain(
        "GENERAL_SERVICES_AUTOMOTIVE",
        7_800,
        &[
            ("Jiffy Lube", "JIFFY LUBE"),
            ("AutoZone", "AUTOZONE"),
            ("Discount Tire", "DISCOUNT TIRE"),
            ("Brannigan Auto Repair", "BRANNIGAN AUTO REPAIR"),
        ],
    ),
    chain(
        "GENERAL_SERVICES_POSTAGE_AND_SHIPPING",
        1_100,
        &[("USPS", "USPS PO"), ("The UPS Store", "THE UPS STORE"), ("FedEx Office", "FEDEX OFFIC")],
    ),
    small(
        "GENERAL_SERVICES_EDUCATION",
        8_500,
        &[("Bright Steps Music School", "BRIGHT STEPS MUSIC"), ("Udemy", "UDEMY ONLINE COURSES")],
    ),
    small(
        "GENERAL_SERVICES_ACCOUNTING_AND_FINANCIAL_PLANNING",
        12_000,
        &[("TurboTax", "INTUIT *TURBOTAX"), ("H&R Block", "H&R BLOCK")],
    ),
    chain(
        "GOVERNMENT_AND_NON_PROFIT_GOVERNMENT_DEPARTMENTS_AND_AGENCIES",
        5_500,
        &[("DMV", "STATE DMV"), ("County Clerk", "COUNTY CLERK FEES")],
    ),
    chain("GOVERNMENT_AND_NON_PROFIT_TAX_PAYMENT", 90_000, &[("IRS", "IRS USATAXPYMT")]),
    chain(
        "GOVERNMENT_AND_NON_PROFIT_DONATIONS",
        3_500,
        &[
            ("American Red Cross", "AMERICAN RED CROSS"),
            ("Second Harvest Food Bank", "SECOND HARVEST FOOD BK"),
        ],
    ),
    small(
        "ENTERTAINMENT_SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS",
        5_200,
        &[
            ("Ticketmaster", "TICKETMASTER"),
            ("City Aquarium", "CITY AQUARIUM"),
            ("Six Flags", "SIX FLAGS"),
            ("Granite Peak Climbing", "GRANITE PEAK CLIMBING"),
        ],
    ),
    chain(
        "ENTERTAINMENT_TV_AND_MOVIES",
        2_600,
        &[
            ("AMC Theatres", "AMC"),
            ("Regal Cinemas", "REGAL CINEMAS"),
            ("Alamo Drafthouse", "ALAMO DRAFTHOUSE"),
        ],
    ),
    chain(
        "ENTERTAINMENT_VIDEO_GAMES",
        2_400,
        &[("Steam", "STEAMGAMES.COM"), ("Nintendo", "NINTENDO *AMERICA"), ("GameStop", "GAMESTOP")],
    ),
    chain("ENTERTAINMENT_CASINOS_AND_GAMBLING", 2_000, &[("DraftKings", "DRAFTKINGS")]),
    chain(
        "TRAVEL_FLIGHTS",
        28_000,
        &[
            ("Delta Air Lines", "DELTA AIR"),
            ("Southwest Airlines", "SOUTHWES"),
            ("Alaska Airlines", "ALASKA AIR"),
        ],
    ),
    chain(
        "TRAVEL_LODGING",
        21_000,
        &[
            ("Airbnb", "AIRBNB * HM"),
            ("Hampton Inn", "HAMPTON INN"),
            ("Cedar Lodge", "CEDAR LODGE"),
        ],
    ),
    chain(
        "TRAVEL_RENTAL_CARS",
        17_000,
        &[("Enterprise", "ENTERPRISE RENT-A-CAR"), ("Hertz", "HERTZ")],
    ),
];
