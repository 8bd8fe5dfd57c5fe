//! Merchants with contracts: services, utilities, insurers, employers.

use super::Merchant;

const fn contract(
    name: &'static str,
    raw: &'static str,
    category: &'static str,
    typical_minor: i64,
) -> Contract {
    Merchant { name, raw, category, typical_minor, small: false }
}

/// A merchant whose typical price is for one period.
pub(crate) type Contract = Merchant;

const TV: &str = "ENTERTAINMENT_TV_AND_MOVIES";
const MUSIC: &str = "ENTERTAINMENT_MUSIC_AND_AUDIO";
const GAMES: &str = "ENTERTAINMENT_VIDEO_GAMES";
const NEWS: &str = "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS";
const SERVICE: &str = "GENERAL_SERVICES_OTHER_GENERAL_SERVICES";
const DONATION: &str = "GOVERNMENT_AND_NON_PROFIT_DONATIONS";
const GYM: &str = "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS";

/// Subscriptions available in both regions.
pub(crate) const SUBSCRIPTIONS: &[Contract] = &[
    contract("Netflix", "NETFLIX.COM", TV, 1_549),
    contract("Disney+", "DISNEY PLUS", TV, 1_399),
    contract("Paramount+", "PARAMOUNT+", TV, 799),
    contract("MUBI", "MUBI", TV, 1_499),
    contract("YouTube Premium", "GOOGLE *YOUTUBEPREMIUM", TV, 1_399),
    contract("Crunchyroll", "CRUNCHYROLL *MEMBERSHIP", TV, 799),
    contract("Spotify", "SPOTIFY", MUSIC, 1_099),
    contract("Tidal", "TIDAL MUSIC", MUSIC, 1_099),
    contract("Audible", "AUDIBLE*", MUSIC, 1_495),
    contract("Qobuz", "QOBUZ MUSIC", MUSIC, 1_299),
    contract("Xbox Game Pass", "MICROSOFT*XBOX GAME PASS", GAMES, 1_999),
    contract("PlayStation Plus", "PLAYSTATION NETWORK", GAMES, 1_399),
    contract("The New York Times", "NYTIMES*NYTIMES DISC", NEWS, 1_700),
    contract("The Economist", "THE ECONOMIST NEWSPAPER", NEWS, 2_190),
    contract("Substack", "SUBSTACK INC", NEWS, 800),
    contract("The Guardian", "GUARDIAN NEWS & MEDIA", NEWS, 1_300),
    contract("Dropbox", "DROPBOX*", SERVICE, 1_199),
    contract("1Password", "1PASSWORD", SERVICE, 499),
    contract("NordVPN", "NORDVPN.COM", SERVICE, 1_299),
    contract("Notion", "NOTION LABS INC", SERVICE, 1_000),
    contract("GitHub", "GITHUB INC", SERVICE, 1_000),
    contract("ChatGPT", "OPENAI *CHATGPT SUBSCR", SERVICE, 2_000),
    contract("Adobe", "ADOBE *CREATIVE CLOUD", SERVICE, 2_299),
    contract("Fastmail", "FASTMAIL PTY LTD", SERVICE, 500),
    contract("Duolingo", "DUOLINGO", "GENERAL_SERVICES_EDUCATION", 699),
    contract("Riverbend Yoga", "RIVERBEND YOGA STUDIO", GYM, 8_900),
    contract("Basic-Fit", "BASIC-FIT", GYM, 2_499),
    contract("Peloton", "PELOTON* MEMBERSHIP", GYM, 4_400),
    contract("Strava", "STRAVA", GYM, 1_199),
    contract("Doctors Without Borders", "DOCTORS W/O BORDERS", DONATION, 2_500),
    contract("Wikimedia", "WIKIMEDIA FOUNDATION", DONATION, 500),
];

/// Subscriptions available only in America.
pub(crate) const AMERICAN_SUBSCRIPTIONS: &[Contract] = &[
    contract("Hulu", "HULU", TV, 999),
    contract("Max", "MAX.COM", TV, 1_699),
    contract("Peacock", "PEACOCK TV LLC", TV, 799),
    contract("Planet Fitness", "PLANET FIT CLUB FEES", GYM, 1_500),
    contract("BarkBox", "BARK BOX", "GENERAL_MERCHANDISE_PET_SUPPLIES", 3_500),
    contract("Public Storage", "PUBLIC STORAGE", "GENERAL_SERVICES_STORAGE", 9_800),
    contract("ADT", "ADT SECURITY*", "HOME_IMPROVEMENT_SECURITY", 5_299),
];

/// Merchants with which one household often has two contracts.
pub(crate) const OFTEN_TWICE: &[Contract] = &[
    contract("Apple", "APPLE.COM/BILL", SERVICE, 299),
    contract("Google One", "GOOGLE *GOOGLE ONE", SERVICE, 199),
    contract("Patreon", "PATREON* MEMBERSHIP", "ENTERTAINMENT_OTHER_ENTERTAINMENT", 500),
    contract("Kung Fu Lotus Academy", "LOTUS ACADEMY TUITION", GYM, 4_200),
    contract("Twitch", "TWITCHINTERACTIVE", "ENTERTAINMENT_VIDEO_GAMES", 499),
];

const POWER: &str = "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY";
const WATER: &str = "RENT_AND_UTILITIES_WATER";
const INTERNET: &str = "RENT_AND_UTILITIES_INTERNET_AND_CABLE";
const PHONE: &str = "RENT_AND_UTILITIES_TELEPHONE";
const WASTE: &str = "RENT_AND_UTILITIES_SEWAGE_AND_WASTE_MANAGEMENT";

/// America's utilities first, then Europe's. A household has one of each category of its region.
pub(crate) const UTILITIES: [&[Contract]; 2] = [
    &[
        contract("PG&E", "PGANDE", POWER, 14_500),
        contract("Duke Energy", "DUKEENERGY", POWER, 13_200),
        contract("Con Edison", "CON ED OF NY", POWER, 15_800),
        contract("Snohomish PUD", "SNOHOMISH CO PUD", POWER, 11_900),
        contract("City Water Department", "CITY WATER DEPT", WATER, 6_800),
        contract("American Water", "AMERICAN WATER", WATER, 7_400),
        contract("Xfinity", "COMCAST CABLE COMM", INTERNET, 7_999),
        contract("Spectrum", "SPECTRUM", INTERNET, 7_499),
        contract("Sonic", "SONIC INTERNET", INTERNET, 5_999),
        contract("Verizon Wireless", "VZWRLSS*APOCC VISB", PHONE, 8_500),
        contract("Mint Mobile", "MINT MOBILE", PHONE, 3_000),
        contract("T-Mobile US", "TMOBILE*AUTO PAY", PHONE, 7_000),
        contract("Waste Management", "WM.COM", WASTE, 8_100),
        contract("Recology", "RECOLOGY", WASTE, 9_300),
    ],
    &[
        contract("Vattenfall", "VATTENFALL EUROPE SALES", POWER, 9_800),
        contract("EDF", "EDF CLIENTS PARTICULIERS", POWER, 10_400),
        contract("Eneco", "ENECO SERVICES BV", POWER, 12_100),
        contract("Iberdrola", "IBERDROLA CLIENTES SAU", POWER, 8_700),
        contract("Vitens", "VITENS NV", WATER, 4_900),
        contract("Veolia Eau", "VEOLIA EAU", WATER, 5_200),
        contract("Ziggo", "ZIGGO SERVICES BV", INTERNET, 5_450),
        contract("Free", "FREE TELECOM", INTERNET, 3_999),
        contract("Vodafone", "VODAFONE GMBH", PHONE, 2_999),
        contract("Orange", "ORANGE SA", PHONE, 2_499),
        contract("Movistar", "TELEFONICA MOVILES", PHONE, 3_500),
        contract("Stadtreinigung", "STADTREINIGUNG", WASTE, 6_200),
    ],
];

const INSURANCE: &str = "GENERAL_SERVICES_INSURANCE";

pub(crate) const INSURERS: [&[Contract]; 2] = [
    &[
        contract("GEICO", "GEICO *AUTO", INSURANCE, 13_400),
        contract("State Farm", "STATE FARM INSURANCE", INSURANCE, 12_200),
        contract("Progressive", "PROG DIRECT INS", INSURANCE, 14_100),
        contract("Lemonade", "LEMONADE INSURANCE", INSURANCE, 2_400),
        contract("Pemco", "PEMCO MUTUAL INS", INSURANCE, 11_000),
    ],
    &[
        contract("Allianz", "ALLIANZ VERSICHERUNGS-AG", INSURANCE, 6_200),
        contract("HUK-Coburg", "HUK-COBURG", INSURANCE, 5_400),
        contract("AXA", "AXA FRANCE IARD", INSURANCE, 5_900),
        contract("Mapfre", "MAPFRE ESPANA", INSURANCE, 4_900),
    ],
];

const SALARY: &str = "INCOME_SALARY";

pub(crate) const EMPLOYERS_AMERICA: &[Contract] = &[
    contract("Halvorsen Freight", "HALVORSEN FREIGH PAYROLL", SALARY, 0),
    contract("Mercy Valley Hospital", "MERCY VALLEY HSP DIR DEP", SALARY, 0),
    contract("Northgate School District", "NORTHGATE USD PAYROLL", SALARY, 0),
    contract("Acuity Robotics", "ACUITY ROBOTICS INC", SALARY, 0),
    contract("Gusto for Fern & Field", "GUSTO FERN FIELD", SALARY, 0),
    contract("City of Marlow", "CITY OF MARLOW PAYROLL", SALARY, 0),
    contract("Tidewater Foods", "TIDEWATER FOODS ADP", SALARY, 0),
    contract("Beacon Analytics", "BEACON ANALYTICS INC", SALARY, 0),
];

pub(crate) const EMPLOYERS_EUROPE: &[Contract] = &[
    contract("Nordlicht Maschinenbau", "NORDLICHT MASCHINENBAU GMBH", SALARY, 0),
    contract("Gemeente Oosterbeek", "GEMEENTE OOSTERBEEK", SALARY, 0),
    contract("Clinique Saint-Roch", "CLINIQUE SAINT ROCH", SALARY, 0),
    contract("Azulejos del Sur", "AZULEJOS DEL SUR SL", SALARY, 0),
    contract("Officine Ferrari & Figli", "OFFICINE FERRARI E FIGLI SRL", SALARY, 0),
];

/// Gig platforms; the typical price is the median of one payout.
pub(crate) const GIG: &[Contract] = &[
    contract("Uber Driver", "UBER USA 6787 EDI PAYMNT", "INCOME_GIG_ECONOMY", 24_000),
    contract("DoorDash Dasher", "DOORDASH, INC. DASHERPAY", "INCOME_GIG_ECONOMY", 18_500),
    contract("Upwork", "UPWORK ESCROW INC EDI", "INCOME_GIG_ECONOMY", 31_000),
    contract("Instacart Shopper", "MAPLEBEAR INC SHOPPERPAY", "INCOME_GIG_ECONOMY", 16_500),
];
