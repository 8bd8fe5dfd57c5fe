//! Those a household has a contract with: services, utilities, insurers, employers.

use super::Merchant;

const fn one(
    name: &'static str,
    raw: &'static str,
    category: &'static str,
    typical_minor: i64,
) -> Contract {
    Merchant { name, raw, category, typical_minor, small: false }
}

/// A merchant whose typical price is that of one period.
pub(crate) type Contract = Merchant;

const TV: &str = "ENTERTAINMENT_TV_AND_MOVIES";
const MUSIC: &str = "ENTERTAINMENT_MUSIC_AND_AUDIO";
const GAMES: &str = "ENTERTAINMENT_VIDEO_GAMES";
const NEWS: &str = "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS";
const SERVICE: &str = "GENERAL_SERVICES_OTHER_GENERAL_SERVICES";
const DONATION: &str = "GOVERNMENT_AND_NON_PROFIT_DONATIONS";
const GYM: &str = "PERSONAL_CARE_GYMS_AND_FITNESS_CENTERS";

/// What every household of either region may take.
pub(crate) const SUBSCRIPTIONS: &[Contract] = &[
    one("Netflix", "NETFLIX.COM", TV, 1_549),
    one("Disney+", "DISNEY PLUS", TV, 1_399),
    one("Paramount+", "PARAMOUNT+", TV, 799),
    one("MUBI", "MUBI", TV, 1_499),
    one("YouTube Premium", "GOOGLE *YOUTUBEPREMIUM", TV, 1_399),
    one("Crunchyroll", "CRUNCHYROLL *MEMBERSHIP", TV, 799),
    one("Spotify", "SPOTIFY", MUSIC, 1_099),
    one("Tidal", "TIDAL MUSIC", MUSIC, 1_099),
    one("Audible", "AUDIBLE*", MUSIC, 1_495),
    one("Qobuz", "QOBUZ MUSIC", MUSIC, 1_299),
    one("Xbox Game Pass", "MICROSOFT*XBOX GAME PASS", GAMES, 1_999),
    one("PlayStation Plus", "PLAYSTATION NETWORK", GAMES, 1_399),
    one("The New York Times", "NYTIMES*NYTIMES DISC", NEWS, 1_700),
    one("The Economist", "THE ECONOMIST NEWSPAPER", NEWS, 2_190),
    one("Substack", "SUBSTACK INC", NEWS, 800),
    one("The Guardian", "GUARDIAN NEWS & MEDIA", NEWS, 1_300),
    one("Dropbox", "DROPBOX*", SERVICE, 1_199),
    one("1Password", "1PASSWORD", SERVICE, 499),
    one("NordVPN", "NORDVPN.COM", SERVICE, 1_299),
    one("Notion", "NOTION LABS INC", SERVICE, 1_000),
    one("GitHub", "GITHUB INC", SERVICE, 1_000),
    one("ChatGPT", "OPENAI *CHATGPT SUBSCR", SERVICE, 2_000),
    one("Adobe", "ADOBE *CREATIVE CLOUD", SERVICE, 2_299),
    one("Fastmail", "FASTMAIL PTY LTD", SERVICE, 500),
    one("Duolingo", "DUOLINGO", "GENERAL_SERVICES_EDUCATION", 699),
    one("Riverbend Yoga", "RIVERBEND YOGA STUDIO", GYM, 8_900),
    one("Basic-Fit", "BASIC-FIT", GYM, 2_499),
    one("Peloton", "PELOTON* MEMBERSHIP", GYM, 4_400),
    one("Strava", "STRAVA", GYM, 1_199),
    one("Doctors Without Borders", "DOCTORS W/O BORDERS", DONATION, 2_500),
    one("Wikimedia", "WIKIMEDIA FOUNDATION", DONATION, 500),
];

/// And what only America has.
pub(crate) const AMERICAN_SUBSCRIPTIONS: &[Contract] = &[
    one("Hulu", "HULU", TV, 999),
    one("Max", "MAX.COM", TV, 1_699),
    one("Peacock", "PEACOCK TV LLC", TV, 799),
    one("Planet Fitness", "PLANET FIT CLUB FEES", GYM, 1_500),
    one("BarkBox", "BARK BOX", "GENERAL_MERCHANDISE_PET_SUPPLIES", 3_500),
    one("Public Storage", "PUBLIC STORAGE", "GENERAL_SERVICES_STORAGE", 9_800),
    one("ADT", "ADT SECURITY*", "HOME_IMPROVEMENT_SECURITY", 5_299),
];

/// Those that one household often has two contracts with.
pub(crate) const TWICE: &[Contract] = &[
    one("Apple", "APPLE.COM/BILL", SERVICE, 299),
    one("Google One", "GOOGLE *GOOGLE ONE", SERVICE, 199),
    one("Patreon", "PATREON* MEMBERSHIP", "ENTERTAINMENT_OTHER_ENTERTAINMENT", 500),
    one("Kung Fu Lotus Academy", "LOTUS ACADEMY TUITION", GYM, 4_200),
    one("Twitch", "TWITCHINTERACTIVE", "ENTERTAINMENT_VIDEO_GAMES", 499),
];

const POWER: &str = "RENT_AND_UTILITIES_GAS_AND_ELECTRICITY";
const WATER: &str = "RENT_AND_UTILITIES_WATER";
const INTERNET: &str = "RENT_AND_UTILITIES_INTERNET_AND_CABLE";
const PHONE: &str = "RENT_AND_UTILITIES_TELEPHONE";
const WASTE: &str = "RENT_AND_UTILITIES_SEWAGE_AND_WASTE_MANAGEMENT";

/// America's first, then Europe's; a household takes one of each category of its side.
pub(crate) const UTILITIES: [&[Contract]; 2] = [
    &[
        one("PG&E", "PGANDE", POWER, 14_500),
        one("Duke Energy", "DUKEENERGY", POWER, 13_200),
        one("Con Edison", "CON ED OF NY", POWER, 15_800),
        one("Snohomish PUD", "SNOHOMISH CO PUD", POWER, 11_900),
        one("City Water Department", "CITY WATER DEPT", WATER, 6_800),
        one("American Water", "AMERICAN WATER", WATER, 7_400),
        one("Xfinity", "COMCAST CABLE COMM", INTERNET, 7_999),
        one("Spectrum", "SPECTRUM", INTERNET, 7_499),
        one("Sonic", "SONIC INTERNET", INTERNET, 5_999),
        one("Verizon Wireless", "VZWRLSS*APOCC VISB", PHONE, 8_500),
        one("Mint Mobile", "MINT MOBILE", PHONE, 3_000),
        one("T-Mobile US", "TMOBILE*AUTO PAY", PHONE, 7_000),
        one("Waste Management", "WM.COM", WASTE, 8_100),
        one("Recology", "RECOLOGY", WASTE, 9_300),
    ],
    &[
        one("Vattenfall", "VATTENFALL EUROPE SALES", POWER, 9_800),
        one("EDF", "EDF CLIENTS PARTICULIERS", POWER, 10_400),
        one("Eneco", "ENECO SERVICES BV", POWER, 12_100),
        one("Iberdrola", "IBERDROLA CLIENTES SAU", POWER, 8_700),
        one("Vitens", "VITENS NV", WATER, 4_900),
        one("Veolia Eau", "VEOLIA EAU", WATER, 5_200),
        one("Ziggo", "ZIGGO SERVICES BV", INTERNET, 5_450),
        one("Free", "FREE TELECOM", INTERNET, 3_999),
        one("Vodafone", "VODAFONE GMBH", PHONE, 2_999),
        one("Orange", "ORANGE SA", PHONE, 2_499),
        one("Movistar", "TELEFONICA MOVILES", PHONE, 3_500),
        one("Stadtreinigung", "STADTREINIGUNG", WASTE, 6_200),
    ],
];

const INSURANCE: &str = "GENERAL_SERVICES_INSURANCE";

pub(crate) const INSURERS: [&[Contract]; 2] = [
    &[
        one("GEICO", "GEICO *AUTO", INSURANCE, 13_400),
        one("State Farm", "STATE FARM INSURANCE", INSURANCE, 12_200),
        one("Progressive", "PROG DIRECT INS", INSURANCE, 14_100),
        one("Lemonade", "LEMONADE INSURANCE", INSURANCE, 2_400),
        one("Pemco", "PEMCO MUTUAL INS", INSURANCE, 11_000),
    ],
    &[
        one("Allianz", "ALLIANZ VERSICHERUNGS-AG", INSURANCE, 6_200),
        one("HUK-Coburg", "HUK-COBURG", INSURANCE, 5_400),
        one("AXA", "AXA FRANCE IARD", INSURANCE, 5_900),
        one("Mapfre", "MAPFRE ESPANA", INSURANCE, 4_900),
    ],
];

const SALARY: &str = "INCOME_SALARY";

pub(crate) const EMPLOYERS_AMERICA: &[Contract] = &[
    one("Halvorsen Freight", "HALVORSEN FREIGH PAYROLL", SALARY, 0),
    one("Mercy Valley Hospital", "MERCY VALLEY HSP DIR DEP", SALARY, 0),
    one("Northgate School District", "NORTHGATE USD PAYROLL", SALARY, 0),
    one("Acuity Robotics", "ACUITY ROBOTICS INC", SALARY, 0),
    one("Gusto for Fern & Field", "GUSTO FERN FIELD", SALARY, 0),
    one("City of Marlow", "CITY OF MARLOW PAYROLL", SALARY, 0),
    one("Tidewater Foods", "TIDEWATER FOODS ADP", SALARY, 0),
    one("Beacon Analytics", "BEACON ANALYTICS INC", SALARY, 0),
];

pub(crate) const EMPLOYERS_EUROPE: &[Contract] = &[
    one("Nordlicht Maschinenbau", "NORDLICHT MASCHINENBAU GMBH", SALARY, 0),
    one("Gemeente Oosterbeek", "GEMEENTE OOSTERBEEK", SALARY, 0),
    one("Clinique Saint-Roch", "CLINIQUE SAINT ROCH", SALARY, 0),
    one("Azulejos del Sur", "AZULEJOS DEL SUR SL", SALARY, 0),
    one("Officine Ferrari & Figli", "OFFICINE FERRARI E FIGLI SRL", SALARY, 0),
];

/// Platforms, with the median of one payout.
pub(crate) const GIG: &[Contract] = &[
    one("Uber Driver", "UBER USA 6787 EDI PAYMNT", "INCOME_GIG_ECONOMY", 24_000),
    one("DoorDash Dasher", "DOORDASH, INC. DASHERPAY", "INCOME_GIG_ECONOMY", 18_500),
    one("Upwork", "UPWORK ESCROW INC EDI", "INCOME_GIG_ECONOMY", 31_000),
    one("Instacart Shopper", "MAPLEBEAR INC SHOPPERPAY", "INCOME_GIG_ECONOMY", 16_500),
];
