"""Stores in which shards can be claimed, and the files of their claims."""

from __future__ import annotations

from zarr.storage import ObjectStore

from sweeps.definition.errors import StoreError
from sweeps.store.claim_files import ClaimFiles
from sweeps.store.folder_claims import FolderClaims
from sweeps.store.pieces import Location, folder_of, inside, text_of


def claim_files(location: Location) -> ClaimFiles | None:
    """Return the files of claims in a store; None if files cannot be created exclusively."""
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
    """Raise an error for a store in which files cannot be created exclusively, as claims need.

    Raises
    ------
    StoreError
        If claims are not possible, or the server cannot be reached.
    """
    claims = claim_files(location)
    if claims is None:
        raise StoreError(
            f"{text_of(location)}: shards are claimed by files that only one process can make, which need a folder of "
            "a file system or a bucket (s3://); give the path of one, or compute parts of the sweep, 1/N to N/N."
        )
    claims.require_exclusive()
