"""Offline proofs: webhooks, signed statements, approvals by passkey."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ._json import canonical
from ._keys import from_base64url, numbers_of_jwk, to_base64url, verify_ed25519, verify_with_jwk
from .errors import AgentPayError


class WebhookRejected(AgentPayError):
    """The request is not from the service, or is too old. Answer 400 and do nothing."""


class SignatureRejected(AgentPayError):
    """Not a statement of this type by the installation of these keys. Trust nothing in it."""


class UnknownSigningKey(SignatureRejected):
    """The key set lacks the key. Fetch ``/.well-known/jwks.json`` again; if that does not help, reject the statement."""


class ApprovalRejected(SignatureRejected):
    """The proof does not hold: no person has approved this with the named passkey."""


class WebhookMessage(TypedDict):
    """A verified webhook."""

    #: The id of the event, the same for every attempt, replay and subscription. Deduplicate by it.
    eventId: str
    #: The id of the delivery to this subscription, the same for every attempt and replay.
    id: str
    event: str
    createdAt: str
    data: dict[str, Any]
    #: A new id for each attempt.
    deliveryId: str


def verify_webhook(
    headers: Mapping[str, str],
    raw_body: bytes | str,
    secret: str,
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> WebhookMessage:
    """
    Proves that a request is a webhook of the subscription with this secret. ``raw_body`` is the body byte for byte.
    Raises ``ValueError`` for an empty secret, with which anyone could sign.
    """
    if not secret:
        raise ValueError("Give the secret of the subscription: without one anybody could sign.")
    named = {name.lower(): value for name, value in headers.items()}
    delivery_id, timestamp = named.get("x-service-delivery-id", ""), named.get("x-service-timestamp", "")
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    signed = f"{delivery_id}.{timestamp}.".encode() + body
    expected = "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    # During the rotation of a secret there are two signatures; either secret verifies.
    given = [named.get("x-service-signature", ""), named.get("x-service-signature-next", "")]
    if not any(hmac.compare_digest(one.encode(), expected.encode()) for one in given):
        raise WebhookRejected("The signature was not made with this secret.")
    if not re.fullmatch(r"\d{1,12}", timestamp, re.ASCII):
        raise WebhookRejected("The timestamp is no time.")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise WebhookRejected("The timestamp is too old, or ahead of time.")
    content = json.loads(body)
    message: WebhookMessage = {
        "eventId": named.get("x-service-event-id", ""),
        "id": re.sub(r"-[^-]+$", "", delivery_id),
        "event": content["event"],
        "createdAt": content["createdAt"],
        "data": content["data"],
        "deliveryId": delivery_id,
    }
    return message


def verify_signed(jws: str, keys: Mapping[str, Any], type: str) -> dict[str, Any]:
    """
    Proves that an installation has signed a statement, such as the evidence of a payment, and returns its claims.
    ``keys`` is a copy of ``/.well-known/jwks.json``, ``type`` the expected type of statement: ``payment-evidence``.
    """
    return _verify_signed_as_one_of(jws, keys, (type,))[1]


def _verify_signed_as_one_of(
    jws: str, keys: Mapping[str, Any], types: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """The type and the claims. The first type names what is expected where the statement is of none."""
    parts = jws.split(".") if len(jws) <= 1_048_576 else []
    if len(parts) != 3 or not parts[2]:
        raise SignatureRejected("This is not a compact JWS.")
    header, claims, signature = parts
    type, kid = _type_and_key_id(_object_in(header), types)
    key = next(
        (one for one in keys["keys"] if one.get("kid") == kid and (one.get("kty"), one.get("crv")) == ("OKP", "Ed25519")),
        None,
    )
    if key is None:
        raise UnknownSigningKey(f"The key set has no key {kid}: fetch /.well-known/jwks.json again.")
    content = from_base64url(signature)
    # Only the canonical spelling of a signature is accepted; others decode to the same bytes.
    is_spelt = len(content) == 64 and to_base64url(content) == signature
    if not is_spelt or not verify_ed25519(from_base64url(key["x"]), f"{header}.{claims}".encode(), content):
        raise SignatureRejected("The signature does not match this text.")
    return type, _object_in(claims)


def _type_and_key_id(header: Mapping[str, Any], types: Sequence[str]) -> tuple[str, str]:
    if header.get("alg") != "EdDSA" or "crit" in header:
        raise SignatureRejected("The algorithm must be EdDSA.")
    type = header.get("typ")
    if not isinstance(type, str) or type not in types:
        raise SignatureRejected(f"This is not a statement of the type {types[0]}.")
    kid = header.get("kid")
    if not isinstance(kid, str):
        raise SignatureRejected("The header names no key.")
    return type, kid[:100]


def _object_in(part: str) -> dict[str, Any]:
    try:
        value = json.loads(from_base64url(part))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise SignatureRejected("A part is not a JSON object in base64url.")
    return value


class Payee(TypedDict):
    name: str | None
    iban: str | None
    walletId: str | None
    requestId: str | None


class Person(TypedDict):
    id: str | None
    name: str | None


class GivenApproval(TypedDict):
    """One person's approval."""

    person: Person
    approvedAt: str


class ProvenApproval(TypedDict):
    """The approval of a proof. A name without its opening is None."""

    ownerId: str
    mode: str
    intentId: str
    agentId: str
    #: With two decimals, as the device has signed it.
    amountEuros: str
    #: The most that may be charged: the amount with the tolerance of the policy.
    largestEuros: str
    currency: str
    payee: Payee
    #: The person who approved last, or alone.
    person: Person
    #: The time of the last approval.
    approvedAt: str
    #: Every approval, in the order in which they were given; one or more.
    approvals: list[GivenApproval]


_PROOF = "intent-approval"
_PROOF_OF_SEVERAL = "intent-approvals"
#: No policy asks for more approvals, and it bounds the work.
_MAX_APPROVALS = 40


def verify_approval(proof: Mapping[str, Any], keys: Mapping[str, Any]) -> ProvenApproval:
    """
    Proves that a person, or each of several, approved an intent with a passkey, and returns what was approved.
    ``proof`` is the answer of ``intents.approval``, ``keys`` your copy of ``/.well-known/jwks.json``. Verifies two
    kinds of signature: that of the installation over the whole proof, and that of each person's device over amount,
    largest amount and payee.
    """
    try:
        type, claims = _verify_signed_as_one_of(proof["jws"], keys, (_PROOF, _PROOF_OF_SEVERAL))
        approvals = [{**claims, "place": ""}] if type == _PROOF else _approvals_in(claims)
        for approval in approvals:
            _check_assertion(approval)
        if type == _PROOF_OF_SEVERAL:
            _check_together(approvals, claims["approvedAt"])
        return _proven_in(claims, approvals, proof["openings"])
    except SignatureRejected:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ApprovalRejected("The proof is not complete.") from error


def _approvals_in(claims: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The approvals of a proof of several, each complete by itself, with what its places of openings begin with."""
    approvals = claims.get("approvals")
    if not isinstance(approvals, list) or not 2 <= len(approvals) <= _MAX_APPROVALS:
        raise ApprovalRejected(f"A proof of several approvals has 2 to {_MAX_APPROVALS} of them.")
    shared = {"mode": claims["mode"], "relyingParty": claims["relyingParty"]}
    return [{**one, **shared, "place": f"approvals.{index}."} for index, one in enumerate(approvals)]


#: All instants have this form, in which the order of texts is that of times.
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")


def _check_together(approvals: Sequence[Mapping[str, Any]], approved_at: str) -> None:
    """Several approvals count only if different passkeys have signed the same, and in this order."""
    if len({canonical({**one["statement"]["subject"], "person": None}) for one in approvals}) > 1:
        raise ApprovalRejected("The passkeys have signed different payments.")
    keys = [numbers_of_jwk(one["publicKey"]) for one in approvals]
    credential_ids = [one["assertion"]["credentialId"] for one in approvals]
    are_texts = all(isinstance(one, str) for one in credential_ids)
    if not are_texts or not _are_distinct(credential_ids) or not _are_distinct(keys):
        raise ApprovalRejected("One passkey has signed two of the approvals.")
    times = [*(one["approvedAt"] for one in approvals), approved_at]
    if not all(_INSTANT.fullmatch(time) for time in times) or times != sorted(times):
        raise ApprovalRejected("The approvals are not in the order of their times.")


def _are_distinct(values: Sequence[object]) -> bool:
    return len(set(values)) == len(values)


def _check_assertion(approval: Mapping[str, Any]) -> None:
    """Verifies an assertion by WebAuthn 7.2, over the statement that the device showed."""
    statement, assertion, party = approval["statement"], approval["assertion"], approval["relyingParty"]
    if statement["kind"] != "intent" or statement["mode"] != approval["mode"]:
        raise ApprovalRejected("The passkey has signed something of another kind.")
    data, client_data = from_base64url(assertion["authenticatorData"]), from_base64url(assertion["clientDataJSON"])
    _check_client_data(json.loads(client_data), statement, party["origins"])
    _check_authenticator_data(data, party["id"])
    signed = data + hashlib.sha256(client_data).digest()
    is_genuine = verify_with_jwk(approval["publicKey"], signed, from_base64url(assertion["signature"]))
    if is_genuine is None:
        raise ApprovalRejected("The passkey’s key is of no kind that is known.")
    if not is_genuine:
        raise ApprovalRejected("The signature of the passkey does not match this statement.")


def _check_client_data(data: Mapping[str, Any], statement: Mapping[str, Any], origins: Sequence[str]) -> None:
    if data["type"] != "webauthn.get":
        raise ApprovalRejected("The passkey has signed something of another kind.")
    if data["challenge"] != to_base64url(hashlib.sha256(canonical(statement).encode()).digest()):
        raise ApprovalRejected("The passkey has signed another statement.")
    is_here = data["origin"] in origins and statement["origin"] in origins
    if not is_here or data.get("crossOrigin") is True:
        raise ApprovalRejected("The passkey has signed for another site.")


#: User presence and user verification.
_PRESENT_AND_VERIFIED = 0b101


def _check_authenticator_data(data: bytes, relying_party: str) -> None:
    """Authenticator data: the hash of the relying party, a byte of flags, and a counter of four bytes."""
    if len(data) < 37 or data[:32] != hashlib.sha256(relying_party.encode()).digest():
        raise ApprovalRejected("The passkey has signed for another site.")
    if data[32] & _PRESENT_AND_VERIFIED != _PRESENT_AND_VERIFIED:
        raise ApprovalRejected("The device did not make sure who held it.")


class _Opener:
    """Opens commitments; None without a commitment or its opening."""

    def __init__(self, openings: Mapping[str, Any]) -> None:
        self._openings = openings

    def open(self, commitment: Mapping[str, Any] | None, place: str) -> str | None:
        opening = self._openings.get(place)
        if not opening:
            return None
        digest = hashlib.sha256((opening["salt"] + opening["value"]).encode()).digest()
        if commitment is None or commitment.get("sha256") != to_base64url(digest):
            raise ApprovalRejected(f"The opening {place} is of something else.")
        return str(opening["value"])


def _proven_in(
    claims: Mapping[str, Any], approvals: Sequence[Mapping[str, Any]], openings: Mapping[str, Any]
) -> ProvenApproval:
    opener = _Opener(openings)
    subject = approvals[-1]["statement"]["subject"]
    payee = subject["payee"]
    name, iban = opener.open(payee["name"], "payee.name"), opener.open(payee["iban"], "payee.iban")
    given: list[GivenApproval] = [
        {"person": person, "approvedAt": one["approvedAt"]}
        for one, person in zip(approvals, _people_in(approvals, opener), strict=True)
    ]
    return {
        "ownerId": claims["ownerId"],
        "mode": claims["mode"],
        "intentId": subject["intentId"],
        "agentId": subject["agentId"],
        "amountEuros": subject["amountEuros"],
        "largestEuros": subject["largestEuros"],
        "currency": subject["currency"],
        "payee": {"name": name, "iban": iban, "walletId": payee["walletId"], "requestId": payee["requestId"]},
        "person": given[-1]["person"],
        "approvedAt": given[-1]["approvedAt"],
        "approvals": given,
    }


def _people_in(approvals: Sequence[Mapping[str, Any]], opener: _Opener) -> list[Person]:
    """A person of a passkey must be the person of the statement, and approves once."""
    people: list[Person] = []
    known: list[str | None] = []
    for one in approvals:
        person, place = one["person"], one["place"]
        id, name = opener.open(person["id"], f"{place}person.id"), opener.open(person["name"], f"{place}person.name")
        signer = opener.open(one["statement"]["subject"]["person"], f"{place}person")
        if id is not None and signer is not None and id != signer:
            raise ApprovalRejected("The passkey is of another person.")
        people.append({"id": id, "name": name})
        known.append(signer if id is None else id)
    if not _are_distinct([one for one in known if one is not None]):
        raise ApprovalRejected("One person has given two of the approvals.")
    return people
