import { TOLD_KEY } from './shell.ts'

/** The steps with the package of Python: one program, and a receiver. */
export const pythonSteps = (url: string): readonly string[] => [
  `# pip install <folder of the service>/dist/packages/python/*.whl
# export AGENTPAY_KEY=$(${TOLD_KEY})
import os
from urllib.parse import urlsplit

from agentpay import AgentPay

url = "${url}"
pay = AgentPay(url, os.environ["AGENTPAY_KEY"])`,
  `wallet = pay.wallets.create({"name": "Research"})
pay.fund.wallet(wallet["id"], {"amountEuros": 100})`,
  `policy = pay.policies.create(
    {"name": "Research", "maxTransactionEuros": 50, "autoApproveLimitEuros": 2}
)
print(policy["id"])`,
  `agent = pay.agents.create({"name": "Reader", "policyId": policy["id"]})
pay.agents.fund(agent["id"], {"amountEuros": 20, "fromWalletId": wallet["id"]})
pay.cards.create({"agentId": agent["id"], "usage": "multi"})
made = pay.agent_tokens.create(agent["id"], {"label": "first", "scopes": ["payer"]})
buyer = AgentPay(url, made["token"])`,
  `merchant = urlsplit(url).hostname or ""
intent = buyer.intents.create({"amountEuros": 2.5, "merchant": merchant, "purpose": "A report"})
print(intent["status"])`,
  `pay.intents.approve(intent["id"], {"comment": "Go ahead"})`,
  `decided = buyer.intents.wait(intent["id"])
if decided["status"] != "approved":
    raise SystemExit(f"Nobody pays what is {decided['status']}.")
paid = buyer.mpp.pay({"intentId": intent["id"], "url": f"{url}/simulate/mpp/paid"})
print(paid["merchant_body"], paid["receipt"])`,
  `print(pay.agents.balance(agent["id"]))
print(pay.statements.create({"walletId": agent["walletId"]}))
for event in pay.events.list({"agentId": agent["id"], "event": "transaction.completed"}):
    print(event["event"], event["data"])
print(pay.ledger.verify())`,
  `# agentpay webhooks listen --forward http://localhost:3000
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from agentpay import WebhookRejected, verify_webhook

secret = os.environ.get("AGENTPAY_WEBHOOK_SECRET", "")
if not secret:
    sys.exit("Set AGENTPAY_WEBHOOK_SECRET, for this program and the command alike.")


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            message = verify_webhook(dict(self.headers.items()), body, secret)
            print(message["event"], message["data"], flush=True)
            self.send_response(204)
        except WebhookRejected:
            self.send_response(400)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver).serve_forever()`,
]
