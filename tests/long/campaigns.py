"""campaigns - the list that tools/long runs, the cheap ones first."""
from fuzzing import Fuzz
from programs import Faults, Kills, Mutants, Races

ALL = [Faults(), Kills(), Mutants(), Races(), Fuzz()]
NAMED = {campaign.name: campaign for campaign in ALL}
