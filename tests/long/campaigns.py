"""campaigns - the list that tools/long runs, the cheap ones first."""
from calls import Calls, Memory, Stops
from differential import Differential
from fuzzing import Fuzz
from growth import Growth
from power import Power
from programs import Faults, Kills, Mutants, Races

ALL = [Faults(), Kills(), Mutants(), Races(), Power(), Differential(), Growth(), Stops(), Calls(),
       Memory(), Fuzz()]
NAMED = {campaign.name: campaign for campaign in ALL}
