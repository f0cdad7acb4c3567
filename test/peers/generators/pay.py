"""Pays by the client that openapi-python-client has written from openapi.json."""

import json
import os
from urllib.parse import urlsplit

from agent_payments_client import AuthenticatedClient, models
from agent_payments_client.api.agent_tokens import agent_tokens_create
from agent_payments_client.api.agents import agents_create, agents_fund, agents_list
from agent_payments_client.api.cards import cards_create
from agent_payments_client.api.intents import intents_approve, intents_create, intents_get
from agent_payments_client.api.mpp import mpp_pay
from agent_payments_client.api.policies import policies_create
from agent_payments_client.api.wallets import fund_wallet, wallets_create

service = os.environ["AGENTPAY_URL"]
owner = AuthenticatedClient(service, os.environ["AGENTPAY_KEY"])

wallet = wallets_create.sync(client=owner, body=models.WalletsCreateBody(name="Research"))
fund_wallet.sync(wallet.id, client=owner, body=models.FundWalletBody(amount_euros=100))
rules = models.PolicyCreateRequest(name="Research", max_transaction_euros=50, auto_approve_limit_euros=2)
policy = policies_create.sync(client=owner, body=rules)
agent = agents_create.sync(client=owner, body=models.AgentsCreateBody(name="Reader", policy_id=policy.id))
funds = models.AgentsFundBody(amount_euros=20, from_wallet_id=wallet.id)
agents_fund.sync(agent.id, client=owner, body=funds)
card = models.CardsCreateBody(agent_id=agent.id, usage=models.CardsCreateBodyUsage.MULTI)
cards_create.sync(client=owner, body=card)
scopes = [models.AgentTokensCreateBodyScopesItem.PAYER]
label = models.AgentTokensCreateBody(label="first", scopes=scopes)
token = agent_tokens_create.sync(agent.id, client=owner, body=label).token
self = AuthenticatedClient(service, token)

wish = models.IntentsCreateBody(amount_euros=2.5, merchant=urlsplit(service).hostname, purpose="A report")
intent = intents_create.sync(client=self, body=wish, idempotency_key="report-1")
purchase = models.MppPayBody(url=f"{service}/simulate/mpp/paid", intent_id=intent.id)

answer = mpp_pay.sync_detailed(client=self, body=purchase)
assert isinstance(answer.parsed, models.Error), "an intent that no one has approved is paid"
refused = [answer.status_code.value, answer.headers["x-error-code"], answer.parsed.error]

intents_approve.sync(intent.id, client=owner, body=models.IntentsApproveBody())
payment = mpp_pay.sync(client=self, body=purchase)
paid = intents_get.sync(intent.id, client=self)
agents_create.sync(client=owner, body=models.AgentsCreateBody(name="Writer"))

page = agents_list.sync(client=owner, limit=1)
names = [one.name for one in page.data]
while page.has_more:
    page = agents_list.sync(client=owner, limit=1, cursor=page.next_cursor)
    names += [one.name for one in page.data]

told = {
    "declared": intent.status.value,
    "refused": refused,
    "merchantStatus": payment.merchant_status,
    "status": paid.status.value,
    "agents": names,
}
print(json.dumps(told))
