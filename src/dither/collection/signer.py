"""The asker's key and the list of campaigns that it signed, in files that several processes may write."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from dither.collection.campaign import Campaign
from dither.collection.campaign_list import CampaignList
from dither.collection.published import Published
from dither.collection.secrets import make_key, public_part, read_key
from dither.collection.signatures import KeyBefore
from dither.errors import InvalidParameter, MalformedReport
from dither.foundation.atomic import lock_beside, whole

_WAIT: Final = 60  # seconds to wait for other writers of a list


class Signer:
    """The asker's private key in a file, and next to it the list of signed campaigns.

    Several processes may sign with one key. Every entry is added to the list in its file, under the lock of
    that file, and is on disk before anything is returned: two lists never exist.
    """

    def __init__(self, place: Path, *, make: bool = False) -> None:
        """Read the key, or make a missing one if `make`; refuse one that was replaced."""
        self._place, self._file = place, list_file(place)
        if make and not place.exists():
            with self._lock():
                if not place.exists():
                    make_key(place)
        self._key = read_key(place)
        self.listed: CampaignList | None = None
        self._read()

    @property
    def key(self) -> str:
        """The public key."""
        return public_part(self._key)

    @property
    def head(self) -> str | None:
        """The head of the list; None if nothing was signed yet."""
        return None if self.listed is None else self.listed.head

    def publish(self, contract: Campaign) -> Published:
        """Return the contract signed, with the day of its retirement if the list has one."""
        known = self._read()
        if known is None or contract.id not in known.campaigns:
            with self._lock():
                known = self._list(contract.id)
        made = Published.sign(contract, self._key, known.before)
        day = known.campaigns[contract.id]
        return made if day is None else made.retire(day, self._key)

    def retire(self, published: Published, day: datetime.date) -> Published:
        """Return a campaign of this key with the signed day on which it was retired."""
        gone = published.retire(day, self._key)
        with self._lock():
            if self._list(published.id).campaigns[published.id] != day:
                self._extend(retired=published.id, day=day.isoformat())
        return gone

    def hand_over(self, place: Path) -> Signer:
        """Return a new key, in a new file, signed by this key as its successor; this key signs no more.

        A handover that was interrupted after the new list was written is completed.
        """
        with self._lock():
            before = self._read()
            after = self._handover_key(place)
            if after is None:
                key = make_key(place)
                after = public_part(key)
                known = CampaignList.extend(before, key, KeyBefore.sign(self._key, after), next_key=after)
                with whole(list_file(place)) as stream:
                    stream.write(known.to_json() + "\n")
            self._extend(next_key=after)
        return Signer(place)

    def _handover_key(self, path: Path) -> str | None:
        """Return the key of a file whose list is this list and the handover to that key, or None."""
        if not (path.exists() and list_file(path).exists()):
            return None
        known = read_list(list_file(path))
        entries = () if self.listed is None else self.listed.entries
        handed = known.before is not None and known.before.key == self.key and known.last_key == known.key
        return known.key if handed and known.entries[:-1] == entries else None

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            lock = lock_beside(self._file, _WAIT)
        except TimeoutError:
            raise InvalidParameter(
                f"cannot lock {self._file} because another process has used it for {_WAIT} "
                "seconds; try again "
                "later"
            ) from None
        with closing(lock):
            yield

    def _read(self) -> CampaignList | None:
        """Return the list as it is in the file; raise InvalidParameter if the key may not sign any more."""
        if self._file.exists():
            self.listed = known = read_list(self._file)
            if known.key != self.key:
                raise InvalidParameter(
                    f"expected {self._file} to be the list of the key {self._place}, got another key's; "
                    "put the right list back"
                )
            if known.last_key not in (None, known.key):
                raise InvalidParameter(
                    f"expected a key that is still valid, got {self._place} (it was replaced); sign with "
                    "the key that follows it"
                )
        return self.listed

    def _list(self, campaign: str) -> CampaignList:
        """Return the list of the file for a new entry; the lock is held."""
        known = self._read()
        return self._extend(published=campaign) if known is None or campaign not in known.campaigns else known

    def _extend(self, **entry: str) -> CampaignList:
        """Return the list with a further entry, written to its file; the lock is held, the list was read."""
        before = None if self.listed is None else self.listed.before
        known = CampaignList.extend(self.listed, self._key, before, **entry)
        with whole(self._file) as stream:
            stream.write(known.to_json() + "\n")
        self.listed = known
        return known


def list_file(key: Path) -> Path:
    """Return the file of the list of campaigns that belongs to the file of a key."""
    return key.with_suffix(".campaigns")


def read_list(file: Path) -> CampaignList:
    """Return the list of campaigns of a file; an error names the file."""
    try:
        return CampaignList.from_json(file.read_bytes())
    except MalformedReport as error:
        raise InvalidParameter(
            f"{file}: {error}; put a copy of the file back, because a list is never started anew"
        ) from None
