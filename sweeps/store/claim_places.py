"""In which stores shards can be claimed, and by which files."""

from __future__ import annotations

from zarr.storage import ObjectStore

from sweeps.definition.errors import StoreError
from sweeps.store.claim_files import ClaimFiles, FolderClaims
from sweeps.store.pieces import Location, folder_of, inside, text_of


def claim_files(location: Location) -> ClaimFiles | None:
    """The files of claims in a store, None where no file can be made by one process alone."""
    root = folder_of(location)
    if root is not None:
        return FolderClaims(root)
    store = inside(location)
    if not isinstance(store, ObjectStore):
        return None
    from sweeps.store.bucket_claims import BucketClaims  # needs obstore
    from sweeps.store.object_store import S3

    return BucketClaims(store) if isinstance(store, S3) else None


def require_claims(location: Location) -> None:
    """Refuse a store in which no file can be made by one process alone, as claims are.

    Raises
    ------
    StoreError
        If it is one, or its server cannot be reached.
    """
    claims = claim_files(location)
    if claims is None:
        raise StoreError(
            f"{text_of(location)}: shards are claimed by files that only one process can make, which need a folder of "
            "a file system or a bucket (s3://); give the path of one, or compute parts of the sweep, 1/N to N/N."
        )
    claims.require_exclusive()
