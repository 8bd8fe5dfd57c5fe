//! What bodies hold: one declaration by which a body is read and by which it is documented.

/// What a request carries.
#[derive(Clone, Copy)]
pub struct Body {
    /// Its name in the document.
    pub name: &'static str,
    pub members: &'static [Member],
    /// Bodies to learn from: what each does, and its JSON.
    pub examples: &'static [(&'static str, &'static str)],
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
    /// Text, or null to clear it.
    TextOrNull {
        longest: usize,
    },
    /// An address that begins with https://.
    Url {
        longest: usize,
    },
    Bool,
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
    /// A list of such words.
    SomeOf(&'static [&'static str]),
    Category,
    Id(&'static str),
    Uuid,
    /// A list of up to a hundred ids.
    Ids(&'static str),
    /// An object of the sender's own.
    Json,
    /// An object whose members follow from the word of another member.
    ByWord(&'static [Variant]),
}

/// An object that belongs to a word.
#[derive(Debug)]
pub struct Variant {
    pub word: &'static str,
    pub about: &'static str,
    pub members: &'static [Member],
}

impl Member {
    pub const fn optional(name: &'static str, holds: Holds, description: &'static str) -> Member {
        Member { name, holds, required: false, description }
    }

    pub const fn required(name: &'static str, holds: Holds, description: &'static str) -> Member {
        Member { name, holds, required: true, description }
    }
}
