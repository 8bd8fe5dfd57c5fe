//! Declarations of request bodies, from which they are parsed and documented.

/// A request body.
#[derive(Clone, Copy)]
pub struct Body {
    /// The name in the OpenAPI document.
    pub name: &'static str,
    pub members: &'static [Member],
    pub rules: &'static [Rule],
    /// Examples: a description and the JSON of each.
    pub examples: &'static [(&'static str, &'static str)],
}

/// A condition on which members are given together. Handlers check it; this documents it.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    ExactlyOne(&'static [&'static str]),
    AtLeastOne([&'static str; 2]),
}

/// One member of a body.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    pub name: &'static str,
    pub holds: Holds,
    pub required: bool,
    pub description: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub enum Holds {
    Text {
        longest: usize,
    },
    /// Text on one line, or null to clear it.
    TextOrNull {
        longest: usize,
    },
    /// An address that begins with https://.
    Url {
        longest: usize,
    },
    Bool,
    /// Only `false`: the other value is reserved.
    False,
    /// A JSON number, read from its own digits.
    Number {
        decimals: u32,
    },
    /// A decimal in quotes.
    DecimalText,
    /// A whole number.
    Whole,
    Date,
    OneOf(&'static [&'static str]),
    /// A list of words from a closed set.
    SomeOf(&'static [&'static str]),
    Category,
    Id(&'static str),
    Uuid,
    /// A list of up to a hundred ids.
    Ids(&'static str),
    /// A list of texts.
    Texts {
        longest: usize,
    },
    /// A list of objects with these members.
    Objects {
        members: &'static [Member],
        least: usize,
        most: usize,
    },
    /// An amount that may be negative.
    Amount,
    /// An object of the client's own choice.
    Json,
    /// An object whose members depend on the value of the member `word`.
    ByWord {
        word: &'static str,
        variants: &'static [Variant],
    },
}

/// The members that belong to one value of the other member.
#[derive(Debug)]
pub struct Variant {
    pub word: &'static str,
    pub about: &'static str,
    pub members: &'static [Member],
    pub rules: &'static [Rule],
}

impl Member {
    pub const fn optional(name: &'static str, holds: Holds, description: &'static str) -> Member {
        Member { name, holds, required: false, description }
    }

    pub const fn required(name: &'static str, holds: Holds, description: &'static str) -> Member {
        Member { name, holds, required: true, description }
    }
}
