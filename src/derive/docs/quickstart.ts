import { type Html, html } from '../../web/html.ts'
import { renderInlineMarkdown } from './markdown.ts'
import { renderCodeSamples } from './panel.ts'

const HELPERS = `get() { curl -sS -w '\\n' "$URL$1" -H "Authorization: Bearer $KEY"; }
post() { curl -sS -w '\\n' "$URL$1" -H "Authorization: Bearer \${3:-$KEY}" -H 'Content-Type: application/json' -d "$2"; }`

const PICK = `pick() { grep -o "\\"$1\\":\\"[^\\"]*" | head -1 | cut -d'"' -f4; }`

/** Reads the key that `npm start` has created. The command runs in the folder of the service. */
const READ_KEY = `sed -n 's/.*"apiKey": "\\([^"]*\\)".*/\\1/p' "\${DATA_DIR:-.data}/instance.json"`

/** Shell steps have no comments, since zsh runs a pasted comment as a command. */
const curlSteps = (url: string): readonly string[] => [
  `export URL=${url}
export KEY="\${KEY:-$(${READ_KEY})}"
${HELPERS}`,
  `${PICK}
WALLET=$(post /wallets '{"name":"Research"}' | pick id)
post "/wallets/$WALLET/fund" '{"amountEuros":100}'`,
  `POLICY=$(post /policies '{"name":"Research","maxTransactionEuros":50,"autoApproveLimitEuros":2}' | pick id)
echo "$POLICY"`,
  `AGENT=$(post /agents '{"name":"Reader","policyId":"'$POLICY'"}' | pick id)
post "/agents/$AGENT/fund" '{"amountEuros":20,"fromWalletId":"'$WALLET'"}'
post /cards '{"agentId":"'$AGENT'","usage":"multi"}'
TOKEN=$(post "/agents/$AGENT/tokens" '{"label":"first","scopes":["payer"]}' | pick token)`,
  `SELLER=\${URL#*://}
SELLER=\${SELLER%%[:/]*}
INTENT=$(post /intents '{"amountEuros":2.5,"merchant":"'$SELLER'","purpose":"A report"}' "$TOKEN" | pick id)
get "/intents/$INTENT"`,
  `post "/intents/$INTENT/approve" '{"comment":"Go ahead"}'`,
  `post /v1/mpp/pay '{"intentId":"'$INTENT'","url":"'$URL'/simulate/mpp/paid"}' "$TOKEN"`,
  `get "/agents/$AGENT/balance"
post /statements '{"walletId":"'$(get "/agents/$AGENT" | pick walletId)'"}'
get "/events?agentId=$AGENT&event=transaction.completed"
post /ledger/verify '{}'`,
  `FIRST=$(get "/events?agentId=$AGENT&event=agent.created" | grep -o 'event_[0-9a-z]*' | head -1)
export AGENTPAY_URL=$URL AGENTPAY_KEY=$KEY
export AGENTPAY_WEBHOOK_SECRET=whsec_$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
RECEIVER=\${RECEIVER:-3000}
PORT=$RECEIVER node examples/first-payment/receiver.mjs &
npm run --silent agentpay -- webhooks listen --forward "http://localhost:$RECEIVER" --events transaction.completed --after "$FIRST" --count 1
wait`,
]

const typescriptSteps = (url: string): readonly string[] => [
  `import { AgentPay } from 'agentpay'

const url = '${url}'
const pay = new AgentPay({ url, token: process.env.AGENTPAY_KEY })`,
  `const wallet = await pay.wallets.create({ name: 'Research' })
await pay.fund.wallet(wallet.id, { amountEuros: 100 })`,
  `const policy = await pay.policies.create({
  name: 'Research',
  maxTransactionEuros: 50,
  autoApproveLimitEuros: 2,
})
console.log(policy.id)`,
  `const agent = await pay.agents.create({ name: 'Reader', policyId: policy.id })
await pay.agents.fund(agent.id, { amountEuros: 20, fromWalletId: wallet.id })
await pay.cards.create({ agentId: agent.id, usage: 'multi' })
const { token } = await pay.agentTokens.create(agent.id, { label: 'first', scopes: ['payer'] })
const buyer = new AgentPay({ url, token })`,
  `const merchant = new URL(url).hostname
const intent = await buyer.intents.create({ amountEuros: 2.5, merchant, purpose: 'A report' })
console.log(intent.status)`,
  `await pay.intents.approve(intent.id, { comment: 'Go ahead' })`,
  `const { status } = await buyer.intents.wait(intent.id)
if (status !== 'approved') throw new Error(\`The intent is \${status}.\`)
const paid = await buyer.mpp.pay({ intentId: intent.id, url: \`\${url}/simulate/mpp/paid\` })
console.log(paid.merchant_body, paid.receipt)`,
  `console.log(await pay.agents.balance(agent.id))
console.log(await pay.statements.create({ walletId: agent.walletId }))
for await (const { event, data } of pay.events.list({ agentId: agent.id, event: 'transaction.completed' }))
  console.log(event, data)
console.log(await pay.ledger.verify())`,
  `// npx agentpay webhooks listen --forward http://localhost:3000
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, WebhookRejected } from 'agentpay/verify'

const secret = process.env.AGENTPAY_WEBHOOK_SECRET
if (!secret) throw new Error('Set AGENTPAY_WEBHOOK_SECRET, for this program and the command alike.')
createServer(async (request, response) => {
  try {
    const { event, data } = verifyWebhook(request.headers, await buffer(request), secret)
    response.writeHead(204).end()
    console.log(event, data)
  } catch (error) {
    response.writeHead(error instanceof WebhookRejected ? 400 : 500).end()
  }
}).listen(process.env.PORT ?? 3000)`,
]

const pythonSteps = (url: string): readonly string[] => [
  `import os
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
  `from urllib.parse import urlsplit

merchant = urlsplit(url).hostname or ""
intent = buyer.intents.create({"amountEuros": 2.5, "merchant": merchant, "purpose": "A report"})
print(intent["status"])`,
  `pay.intents.approve(intent["id"], {"comment": "Go ahead"})`,
  `decided = buyer.intents.wait(intent["id"])
if decided["status"] != "approved":
    raise SystemExit(f"The intent is {decided['status']}.")
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

interface Step {
  readonly title: string
  readonly text: string
  readonly curl: string
  readonly typescript: string
  readonly python: string
}

const words: readonly Pick<Step, 'title' | 'text'>[] = [
  {
    title: 'Get a key',
    text: 'A sandbox key sees only test data and uses test money. `npm start` creates one, and the first lines read it in the folder of the service; elsewhere, set `KEY` first. TypeScript and Python read the key from `AGENTPAY_KEY`. Install their package with `npm run packages`, then `npm install dist/packages/typescript` or `pip install dist/packages/python/*.whl`.',
  },
  {
    title: 'Fund a wallet',
    text: 'In live mode, money arrives by bank transfer. In the sandbox, it is available at once.',
  },
  {
    title: 'Create a policy',
    text: 'This policy allows up to € 50 per payment, and payments above € 2 wait for a person. A field that you leave out sets no limit.',
  },
  {
    title: 'Create an agent with money and a token',
    text: 'The agent gets a copy of the policy, a wallet to spend from, and a card whose number it never sees. The token works only for this agent and is shown only once.',
  },
  {
    title: 'Declare an intent as the agent',
    text: 'An intent states the amount, the merchant and the purpose before any money moves. This one has the status `created` and waits for approval.',
  },
  {
    title: 'Approve it',
    text: 'Here you approve with a key. In the console, a person approves with a passkey, also on a phone. The money is now held.',
  },
  {
    title: 'Pay',
    text: 'The agent calls a merchant that answers 402, pays, and gets the article with a receipt. The sandbox has such merchants.',
  },
  {
    title: 'Check the result',
    text: 'Read the remaining balance, the statement of the month and the event of a webhook, and verify the ledger.',
  },
  {
    title: 'Receive the event on your machine as a signed webhook',
    text: '`agentpay webhooks listen --forward` sends the event to your receiver. Run the lines in the folder of the service. In TypeScript and Python, the receiver is a separate program. Start it and the command with the same `AGENTPAY_WEBHOOK_SECRET`, which you choose.',
  },
]

export function quickstartSteps(url: string): Step[] {
  const languages = [curlSteps(url), typescriptSteps(url), pythonSteps(url)] as const
  return words.map((word, n) => {
    const [curl = '', typescript = '', python = ''] = languages.map(steps => steps[n])
    return { ...word, curl, typescript, python }
  })
}

export const quickstartSection = (url: string): Html => html`
<section class="guide quickstart" id="quickstart" aria-labelledby="quickstart-title">
  <h2 id="quickstart-title"><a href="#quickstart">Pay something in three minutes</a></h2>
  <ol>${quickstartSteps(url).map(
    ({ title, text, curl, typescript, python }) => html`<li>
    <div class="text"><h3>${title}</h3><p>${renderInlineMarkdown(text)}</p></div>
    <div class="code">${renderCodeSamples({ curl, typescript, python })}</div>
  </li>`,
  )}</ol>
</section>`
