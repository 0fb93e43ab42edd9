//! The closed lists of words that traces use.
use std::fmt;
use std::str::FromStr;

/// An enumeration whose numbers are those of `record.h` and whose text is the word of the wire.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$note:meta])* $variant:ident = $number:literal, $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        pub enum $name {
            $($(#[$note])* $variant = $number,)*
        }

        impl $name {
            /// The word of the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// Training or inference.
    ExecutionPhase {
        Train = 0, "train",
        Infer = 1, "infer",
    }
}
words! {
    /// The part of a training step.
    ExecutionStep {
        Forward = 1, "forward",
        Backward = 2, "backward",
        Optimizer = 3, "optimizer",
    }
}
words! {
    SpanKind {
        Function = 0, "function",
        Op = 1, "op",
        Module = 2, "module",
    }
}
words! {
    /// What a duration on the host clock means.
    TimingMode {
        Host = 0, "host",
        DeviceSynchronized = 1, "device_synchronized",
    }
}
words! {
    /// How much of a plane a capture promises to hold.
    CoverageLevel {
        None = 0, "none",
        Partial = 1, "partial",
        Complete = 2, "complete",
    }
}
words! {
    MeasurementScope {
        Unknown = 0, "unknown",
        ProfiledWork = 1, "profiled_work",
        ProductionEquivalent = 2, "production_equivalent",
    }
}
words! {
    MemoryCategory {
        Other = 0, "other",
        Parameter = 1, "parameter",
        Activation = 2, "activation",
        Gradient = 3, "gradient",
        Optimizer = 4, "optimizer",
    }
}
words! {
    GradientState {
        Present = 0, "present",
        Missing = 1, "missing",
        Zero = 2, "zero",
        NonFinite = 3, "non_finite",
    }
}
words! {
    GradientFamilyExpectation {
        Active = 0, "active",
        Inactive = 1, "inactive",
        DataConditional = 2, "data_conditional",
    }
}

macro_rules! first_is_default {
    ($($name:ident: $variant:ident),*) => {
        $(impl Default for $name {
            fn default() -> Self {
                Self::$variant
            }
        })*
    };
}
first_is_default!(TimingMode: Host, CoverageLevel: None, MeasurementScope: Unknown,
                  MemoryCategory: Other);

fn parse(word: &str) -> Option<(u32, u32)> {
    let text = std::ffi::CString::new(word).ok()?;
    let (mut phase, mut step) = (u32::MAX, u32::MAX);
    // SAFETY: a terminated text and two numbers.
    let known = unsafe { sys::cg_record_parse_phase(text.as_ptr(), &mut phase, &mut step) };
    known.then_some((phase, step))
}

use candlegraph_sys as sys;

/// As people write it: `training`, `eval`, in any case. Never on the wire.
impl FromStr for ExecutionPhase {
    type Err = anyhow::Error;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match parse(word) {
            Some((0, _)) => Ok(Self::Train),
            Some((1, _)) => Ok(Self::Infer),
            _ => Err(anyhow::anyhow!("`{word}` is no phase; say train or infer")),
        }
    }
}

/// As people write it: `fwd`, `backprop`, `optim`, in any case. Never on the wire.
impl FromStr for ExecutionStep {
    type Err = anyhow::Error;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match parse(word) {
            Some((_, 1)) => Ok(Self::Forward),
            Some((_, 2)) => Ok(Self::Backward),
            Some((_, 3)) => Ok(Self::Optimizer),
            _ => Err(anyhow::anyhow!("`{word}` is no step; say forward, backward or optimizer")),
        }
    }
}

impl MemoryCategory {
    /// What a tensor is: variables are parameters, else the part of the step decides.
    pub fn of(step: Option<ExecutionStep>, is_variable: bool) -> Self {
        match (is_variable, step) {
            (true, _) => Self::Parameter,
            (false, Some(ExecutionStep::Backward)) => Self::Gradient,
            (false, Some(ExecutionStep::Optimizer)) => Self::Optimizer,
            (false, _) => Self::Activation,
        }
    }
}
