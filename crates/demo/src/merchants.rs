//! Merchants of everyday life, and how their descriptors are built.

use base::category::Category;

/// How the merchant's part of a descriptor is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Name and store number.
    Store,
    Plain,
    Square,
    Toast,
    Paypal,
    Shopify,
    Marketplace,
    Google,
    AppleBill,
    Ride,
    Delivery,
    /// Name, and a phone number in place of a city.
    Online,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Merchant {
    pub(super) name: &'static str,
    pub(super) core: &'static str,
    pub(super) shape: Shape,
    pub(super) category: &'static str,
}

/// The category of a code. Only codes written in this crate are passed, and a test parses all of them.
pub(super) fn category(code: &str) -> Category {
    Category::parse(code).expect("the tables contain only known categories")
}

pub(super) const fn merchant(
    name: &'static str,
    core: &'static str,
    shape: Shape,
    category: &'static str,
) -> Merchant {
    Merchant { name, core, shape, category }
}

use Shape::{AppleBill, Delivery, Google, Marketplace, Online, Paypal, Plain, Ride};
use Shape::{Shopify, Square, Store, Toast};

const GROCERIES: &str = "FOOD_AND_DRINK_GROCERIES";
const COFFEE: &str = "FOOD_AND_DRINK_COFFEE";
const FAST_FOOD: &str = "FOOD_AND_DRINK_FAST_FOOD";
const RESTAURANT: &str = "FOOD_AND_DRINK_RESTAURANT";
const FUEL: &str = "TRANSPORTATION_GAS";
const CLOTHING: &str = "GENERAL_MERCHANDISE_CLOTHING_AND_ACCESSORIES";
const SUPERSTORE: &str = "GENERAL_MERCHANDISE_SUPERSTORES";
const ONLINE_SHOP: &str = "GENERAL_MERCHANDISE_ONLINE_MARKETPLACES";
const HARDWARE: &str = "HOME_IMPROVEMENT_HARDWARE";
const PHARMACY: &str = "MEDICAL_PHARMACIES_AND_SUPPLEMENTS";
const OUTINGS: &str = "ENTERTAINMENT_SPORTING_EVENTS_AMUSEMENT_PARKS_AND_MUSEUMS";

pub(super) const GROCERS: [Merchant; 7] = [
    merchant("Trader Joe's", "TRADER JOE S", Store, GROCERIES),
    merchant("Safeway", "SAFEWAY", Store, GROCERIES),
    merchant("Whole Foods Market", "WHOLEFDS MKT", Store, GROCERIES),
    merchant("Kroger", "KROGER", Store, GROCERIES),
    merchant("Aldi", "ALDI", Store, GROCERIES),
    merchant("Sprouts Farmers Market", "SPROUTS FARMERS MAR", Store, GROCERIES),
    merchant("Instacart", "INSTACART", Online, GROCERIES),
];
pub(super) const CAFES: [Merchant; 7] = [
    merchant("Starbucks", "STARBUCKS STORE", Store, COFFEE),
    merchant("Blue Bottle Coffee", "BLUE BOTTLE", Square, COFFEE),
    merchant("Peet's Coffee", "PEET'S", Store, COFFEE),
    merchant("Philz Coffee", "PHILZ COFFEE", Square, COFFEE),
    merchant("Paper Moon Espresso", "PAPER MOON ESPRESSO", Square, COFFEE),
    merchant("Corner Bakehouse", "CORNER BAKEHOUSE", Toast, COFFEE),
    merchant("Two Rivers Tea", "TWO RIVERS TEA", Square, COFFEE),
];
pub(super) const LUNCHES: [Merchant; 8] = [
    merchant("Chipotle", "CHIPOTLE", Store, FAST_FOOD),
    merchant("McDonald's", "MCDONALD'S F", Store, FAST_FOOD),
    merchant("Sweetgreen", "SWEETGREEN", Store, FAST_FOOD),
    merchant("Panera Bread", "PANERA BREAD", Store, FAST_FOOD),
    merchant("Taqueria El Farol", "TAQUERIA EL FAROL", Square, FAST_FOOD),
    merchant("Banh Mi Saigon", "BANH MI SAIGON", Toast, FAST_FOOD),
    merchant("Jersey Mike's", "JERSEY MIKES", Store, FAST_FOOD),
    merchant("DoorDash", "THAI BASIL", Delivery, RESTAURANT),
];
pub(super) const RESTAURANTS: [Merchant; 8] = [
    merchant("Osteria Bellini", "OSTERIA BELLINI", Toast, RESTAURANT),
    merchant("The Copper Pot", "THE COPPER POT", Toast, RESTAURANT),
    merchant("Sushi Hana", "SUSHI HANA", Square, RESTAURANT),
    merchant("Mesa Verde Grill", "MESA VERDE GRILL", Plain, RESTAURANT),
    merchant("Lucky Dragon", "LUCKY DRAGON CHINESE", Plain, RESTAURANT),
    merchant("Olive Garden", "OLIVE GARDEN", Store, RESTAURANT),
    merchant("Pho 79", "PHO 79 NOODLE HOUSE", Toast, RESTAURANT),
    merchant("Alder Street Brewing", "ALDER STREET BREWING", Square, RESTAURANT),
];
pub(super) const FUEL_STATIONS: [Merchant; 5] = [
    merchant("Shell", "SHELL OIL", Store, FUEL),
    merchant("Chevron", "CHEVRON", Store, FUEL),
    merchant("Costco Gas", "COSTCO GAS", Store, FUEL),
    merchant("Exxon", "EXXONMOBIL", Store, FUEL),
    merchant("ARCO", "ARCO", Store, FUEL),
];
pub(super) const MARKETPLACES: [Merchant; 5] = [
    merchant("Amazon", "AMAZON", Marketplace, ONLINE_SHOP),
    merchant("eBay", "EBAY O*", Paypal, ONLINE_SHOP),
    merchant("Etsy", "ETSY, INC.", Online, ONLINE_SHOP),
    merchant("Allbirds", "ALLBIRDS", Shopify, CLOTHING),
    merchant("AliExpress", "ALIPAY ALIEXPRESS", Online, ONLINE_SHOP),
];
pub(super) const SUPERSTORES: [Merchant; 4] = [
    merchant("Target", "TARGET", Store, SUPERSTORE),
    merchant("Walmart", "WAL-MART", Store, SUPERSTORE),
    merchant("Costco", "COSTCO WHSE", Store, SUPERSTORE),
    merchant("Dollar Tree", "DOLLAR TREE", Store, "GENERAL_MERCHANDISE_DISCOUNT_STORES"),
];
pub(super) const CLOTHES: [Merchant; 5] = [
    merchant("Old Navy", "OLD NAVY US", Store, CLOTHING),
    merchant("Uniqlo", "UNIQLO USA LLC", Plain, CLOTHING),
    merchant("Nordstrom Rack", "NORDSTROM-RACK", Store, CLOTHING),
    merchant("REI", "REI.COM", Online, "GENERAL_MERCHANDISE_SPORTING_GOODS"),
    merchant("Macy's", "MACYS", Store, "GENERAL_MERCHANDISE_DEPARTMENT_STORES"),
];
pub(super) const PHARMACIES: [Merchant; 3] = [
    merchant("CVS", "CVS/PHARMACY", Store, PHARMACY),
    merchant("Walgreens", "WALGREENS", Store, PHARMACY),
    merchant("Rite Aid", "RITE AID", Store, PHARMACY),
];
pub(super) const RIDES: [Merchant; 2] = [
    merchant("Uber", "UBER", Ride, "TRANSPORTATION_TAXIS_AND_RIDE_SHARES"),
    merchant("Lyft", "LYFT", Ride, "TRANSPORTATION_TAXIS_AND_RIDE_SHARES"),
];
pub(super) const CORNER_SHOPS: [Merchant; 4] = [
    merchant("7-Eleven", "7-ELEVEN", Store, "GENERAL_MERCHANDISE_CONVENIENCE_STORES"),
    merchant("Circle K", "CIRCLE K", Store, "GENERAL_MERCHANDISE_CONVENIENCE_STORES"),
    merchant("Wawa", "WAWA", Store, "GENERAL_MERCHANDISE_CONVENIENCE_STORES"),
    merchant("Vend USA", "CTLP*VEND USA", Plain, "FOOD_AND_DRINK_VENDING_MACHINES"),
];
pub(super) const LEISURE: [Merchant; 9] = [
    merchant("AMC Theatres", "AMC ONLINE", Store, "ENTERTAINMENT_TV_AND_MOVIES"),
    merchant("Steam", "STEAMGAMES.COM", Online, "ENTERTAINMENT_VIDEO_GAMES"),
    merchant("Nintendo", "NINTENDO CA", Online, "ENTERTAINMENT_VIDEO_GAMES"),
    merchant("Ticketmaster", "TM *", Online, OUTINGS),
    merchant("Science Museum", "SCIENCE MUSEUM ADMIS", Plain, OUTINGS),
    merchant(
        "Barnes & Noble",
        "BARNES & NOBLE",
        Store,
        "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS",
    ),
    merchant("Total Wine", "TOTAL WINE AND MORE", Store, "FOOD_AND_DRINK_BEER_WINE_AND_LIQUOR"),
    merchant("Petco", "PETCO", Store, "GENERAL_MERCHANDISE_PET_SUPPLIES"),
    merchant("Paper Source", "PAPER SOURCE", Store, "GENERAL_MERCHANDISE_GIFTS_AND_NOVELTIES"),
];
pub(super) const HOME: [Merchant; 4] = [
    merchant("The Home Depot", "THE HOME DEPOT", Store, HARDWARE),
    merchant("Lowe's", "LOWES", Store, HARDWARE),
    merchant("IKEA", "IKEA", Store, "HOME_IMPROVEMENT_FURNITURE"),
    merchant("Ace Hardware", "ACE HDWE", Store, HARDWARE),
];
pub(super) const SALONS: [Merchant; 2] = [
    merchant("Willow Hair Studio", "WILLOW HAIR STUDIO", Square, "PERSONAL_CARE_HAIR_AND_BEAUTY"),
    merchant("Studio Nine Salon", "STUDIO NINE SALON", Square, "PERSONAL_CARE_HAIR_AND_BEAUTY"),
];
pub(super) const BARBERS: [Merchant; 2] = [
    merchant("Sal's Barber Shop", "SALS BARBER SHOP", Square, "PERSONAL_CARE_HAIR_AND_BEAUTY"),
    merchant("Great Clips", "GREAT CLIPS", Store, "PERSONAL_CARE_HAIR_AND_BEAUTY"),
];
pub(super) const LAUNDRY: [Merchant; 1] =
    [merchant("Sunny Cleaners", "SUNNY CLEANERS", Plain, "PERSONAL_CARE_LAUNDRY_AND_DRY_CLEANING")];
pub(super) const PARKING: [Merchant; 1] =
    [merchant("ParkMobile", "PARKMOBILE", Online, "TRANSPORTATION_PARKING")];

/// Subscriptions to choose from, with their price range. Special ones are in `subscriptions.rs`.
pub(super) const SUBSCRIPTIONS: [(Merchant, [i64; 2]); 9] = [
    (merchant("Netflix", "NETFLIX.COM", Online, "ENTERTAINMENT_TV_AND_MOVIES"), [15_49, 17_99]),
    (merchant("Spotify", "SPOTIFY USA", Online, "ENTERTAINMENT_MUSIC_AND_AUDIO"), [10_99, 16_99]),
    (
        merchant("YouTube Premium", "YouTubePremium", Google, "ENTERTAINMENT_TV_AND_MOVIES"),
        [13_99, 22_99],
    ),
    (merchant("Disney+", "DISNEY PLUS", Online, "ENTERTAINMENT_TV_AND_MOVIES"), [9_99, 13_99]),
    (
        merchant(
            "The New York Times",
            "NYTIMES*NYTIMES",
            Online,
            "GENERAL_MERCHANDISE_BOOKSTORES_AND_NEWSSTANDS",
        ),
        [17_00, 25_00],
    ),
    (
        merchant(
            "ChatGPT",
            "OPENAI *CHATGPT SUBSCR",
            Online,
            "GENERAL_SERVICES_OTHER_GENERAL_SERVICES",
        ),
        [20_00, 20_00],
    ),
    (
        merchant(
            "Adobe",
            "ADOBE  *CREATIVE CLD",
            Online,
            "GENERAL_SERVICES_OTHER_GENERAL_SERVICES",
        ),
        [22_99, 22_99],
    ),
    (merchant("Dropbox", "DROPBOX*8QK2", Online, "GENERAL_SERVICES_STORAGE"), [11_99, 11_99]),
    (
        merchant("Patreon", "PATREON* MEMBERSHIP", Paypal, "ENTERTAINMENT_OTHER_ENTERTAINMENT"),
        [5_00, 12_00],
    ),
];
/// Two services billed under one merchant name.
pub(super) const APPLE: [(&str, Merchant, i64); 2] = [
    (
        "subscription/icloud",
        merchant("Apple", "APPLE.COM/BILL", AppleBill, "GENERAL_SERVICES_STORAGE"),
        2_99,
    ),
    (
        "subscription/apple-music",
        merchant("Apple", "APPLE.COM/BILL", AppleBill, "ENTERTAINMENT_MUSIC_AND_AUDIO"),
        10_99,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_merchant_has_a_known_category_and_a_unique_name() {
        let tables: [&[Merchant]; 16] = [
            &GROCERS,
            &CAFES,
            &LUNCHES,
            &RESTAURANTS,
            &FUEL_STATIONS,
            &MARKETPLACES,
            &SUPERSTORES,
            &CLOTHES,
            &PHARMACIES,
            &RIDES,
            &CORNER_SHOPS,
            &LEISURE,
            &HOME,
            &SALONS,
            &BARBERS,
            &PARKING,
        ];
        let mut names = std::collections::BTreeSet::new();
        for merchant in tables.into_iter().flatten() {
            assert_eq!(category(merchant.category).detailed(), merchant.category);
            assert!(names.insert(merchant.name), "{} appears twice", merchant.name);
        }
    }
}
