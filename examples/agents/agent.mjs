// An agent that declares what it wants to spend, waits for the approver, pays, and reports the outcome.
// It needs the package agentpay: `AGENTPAY_URL=… AGENTPAY_KEY=at_… node agent.mjs http://localhost:8080/simulate/mpp/paid`.
import { AgentPay, isRefusal } from 'agentpay'

const [address, amount = '2.5'] = process.argv.slice(2)
const pay = new AgentPay()

// The merchant is the host of the address: the name that it gives itself proves nothing.
const merchant = new URL(address).hostname
const declared = await pay.intents.create({
  amountEuros: Number(amount),
  merchant,
  purpose: 'A page of the archive',
})
console.log(`declared: ${declared.id} is ${declared.status}`)
// It waits for an approver, or for money: the explanation says which.
if (declared.status === 'created') console.log((await pay.intents.explanation(declared.id)).summary)

const intent = await pay.intents.wait(declared.id)
if (intent.status !== 'approved')
  throw new Error(`${intent.id} is ${intent.status}: ${intent.comment ?? 'no reason was given'}`)

try {
  // The same key returns the same answer, so nothing is paid twice if the connection breaks.
  const paid = await pay.mpp.pay({ intentId: intent.id, url: address }, { idempotencyKey: intent.id })
  const outcome = await pay.outcomes.create({ intentId: intent.id, success: paid.merchant_status === 200 })
  console.log(`paid: ${paid.credential_id}, and reported: ${outcome.id}`)
} catch (error) {
  if (!isRefusal(error, 'mpp.pay')) throw error
  console.log(`not paid: ${error.code}`)
  await pay.outcomes.create({ intentId: intent.id, success: false, note: error.message })
}
console.log(`left: ${(await pay.agents.balance(intent.agentId)).availableEuros} euros`)
