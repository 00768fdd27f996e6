# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The models from which the parts of artefacts are derived."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A part of a file. It cannot be changed, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class WrittenModel(FrozenModel):
    """A part of a document that Heapwright writes. Fields with a default are always present."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class InputModel(FrozenModel):
    """A part of a file that a user writes. Its keys may have other names than the fields."""

    model_config = ConfigDict(populate_by_name=True, allow_inf_nan=False)
