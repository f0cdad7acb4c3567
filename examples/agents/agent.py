"""
An agent that declares what it wants to spend, waits for the person who decides, pays, and reports the outcome. It needs
the package agentpay: ``AGENTPAY_URL=… AGENTPAY_KEY=at_… python agent.py http://localhost:8080/simulate/mpp/paid``.
"""

import sys
from urllib.parse import urlsplit

from agentpay import AgentPay, Refused


def main(address: str, amount: str = "2.5") -> None:
    pay = AgentPay()
    # The merchant is the host that is asked: what it calls itself proves nothing.
    merchant = urlsplit(address).hostname or ""
    declared = pay.intents.create(
        {"amountEuros": float(amount), "merchant": merchant, "purpose": "A page of the archive"}
    )
    print(f"declared: {declared['id']} is {declared['status']}", flush=True)
    # The intent waits for a person, and perhaps for money: the explanation says for what.
    if declared["status"] == "created":
        print(pay.intents.explanation(declared["id"])["summary"], flush=True)

    intent = pay.intents.wait(declared["id"])
    if intent["status"] != "approved":
        raise SystemExit(f"{intent['id']} is {intent['status']}: {intent['comment'] or 'no reason was given'}")

    try:
        # The same key again gives the same answer: nothing is paid twice if the connection breaks.
        paid = pay.mpp.pay({"intentId": intent["id"], "url": address}, idempotency_key=intent["id"])
        outcome = pay.outcomes.create({"intentId": intent["id"], "success": paid["merchant_status"] == 200})
        print(f"paid: {paid['credential_id']}, and reported: {outcome['id']}")
    except Refused as refused:
        if refused.operation != "mpp.pay":
            raise
        print(f"not paid: {refused.code}")
        pay.outcomes.create({"intentId": intent["id"], "success": False, "note": str(refused)})
    print(f"left: {pay.agents.balance(intent['agentId'])['availableEuros']} euros")


main(*sys.argv[1:])
