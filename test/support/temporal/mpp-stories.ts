import { aCard } from '../cards/cards.ts'
import { answerWith, type Conduct, demand, openMerchant, sell } from '../commerce/merchant-server.ts'
import { anAgentUnder, anIntent, bodyOf, type TestClient } from '../factories.ts'
import { until } from '../until.ts'

interface Stage {
  readonly client: TestClient
  signal(workflowId: string, name: string, payload: unknown): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** A machine payment at a merchant with these answers; the merchant closes at the end of the story. */
async function paying(client: TestClient, gives: Conduct, story: (workflowId: string) => Promise<unknown>) {
  const merchant = await openMerchant()
  try {
    const { id: agentId } = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
    await aCard(client, { agentId })
    const { id: intentId } = await anIntent(client, agentId, { merchant: '127.0.0.1' })
    const url = merchant.sells('/report', demand(), gives)
    const paid = client.mpp.pay({ body: { url, intentId } })
    const first = async () => (await bodyOf(client.mpp.list({ query: { intentId } }))).data[0]
    const workflowId = String((await until('it is on record', first)).workflowId)
    await story(workflowId)
    await paid
    return workflowId
  } finally {
    merchant.close()
  }
}

const unclear = answerWith(500)
const OPEN = 'for a report of whether it was paid'

export const mppStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'mpp-paid': ({ client, ends }) => paying(client, sell(), ends),

  'mpp-waits': ({ client, shows }) => paying(client, unclear, id => shows(id, OPEN)),

  'mpp-not-paid-says-an-operator': ({ client, shows, signal, ends }) =>
    paying(client, unclear, async id => {
      await shows(id, OPEN)
      await signal(id, 'notPaid', { by: 7 })
      await shows(id, 'A signal notPaid was ignored')
      await signal(id, 'notPaid', { by: 'Ada', reason: 'There is no such order' })
      await ends(id)
    }),

  'mpp-unpaid-for-31-days': ({ client, shows, ends }) =>
    paying(client, unclear, async id => {
      await shows(id, OPEN)
      await bodyOf(client.sandbox.advance({ body: { days: 31 } }))
      await ends(id)
    }),

  'mpp-answered-late': async ({ client, ends }) => {
    let answer: (() => void) | undefined
    const late: Conduct = (visit, response) => {
      answer = () => sell()(visit, response)
    }
    return paying(client, late, async id => {
      await until('it is sent', () => answer)
      await bodyOf(client.sandbox.advance({ body: { minutes: 3 } }))
      answer?.()
      await ends(id)
    })
  },
}
