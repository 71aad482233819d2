# Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
"""What tutti_ccl finds when it is asked for it."""

from . import MPI as MPI
from . import _core
from ._core import Message as Message
from ._core import release_id as release_id
from ._core import unique_id as unique_id
from .communicator import Communicator as Communicator
from .constants import ANY_SOURCE as ANY_SOURCE
from .constants import ANY_TAG as ANY_TAG
from .constants import AVG as AVG
from .constants import BAND as BAND
from .constants import BOR as BOR
from .constants import BXOR as BXOR
from .constants import IN_PLACE as IN_PLACE
from .constants import LAND as LAND
from .constants import LOR as LOR
from .constants import LXOR as LXOR
from .constants import MAX as MAX
from .constants import MAXLOC as MAXLOC
from .constants import MIN as MIN
from .constants import MINLOC as MINLOC
from .constants import PROC_NULL as PROC_NULL
from .constants import PROD as PROD
from .constants import SUM as SUM
from .errors import Aborted as Aborted
from .errors import InternalError as InternalError
from .errors import Interrupted as Interrupted
from .errors import InvalidArgument as InvalidArgument
from .errors import InvalidUsage as InvalidUsage
from .errors import Mismatch as Mismatch
from .errors import OutOfMemory as OutOfMemory
from .errors import PeerFailed as PeerFailed
from .errors import SystemFailed as SystemFailed
from .errors import Timeout as Timeout
from .errors import Truncated as Truncated
from .errors import TuttiError as TuttiError
from .errors import Unsupported as Unsupported
from .requests import Request as Request
from .requests import Status as Status

__version__: str
cwd: str
group = _core.Group
COMM_SELF: Communicator
COMM_WORLD: Communicator
