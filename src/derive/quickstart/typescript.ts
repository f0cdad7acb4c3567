import { TOLD_KEY } from './shell.ts'

/** The steps with the package of TypeScript: one program, and a receiver. */
export const typescriptSteps = (url: string): readonly string[] => [
  `// npm install <folder of the service>/dist/packages/typescript
// export AGENTPAY_KEY=$(${TOLD_KEY})
import { AgentPay } from 'agentpay'

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
if (status !== 'approved') throw new Error(\`Nobody pays what is \${status}.\`)
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
