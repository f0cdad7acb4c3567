import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { printLine } from '../../src/platform/output.ts'
import { addSigner, call, forEachOf, type Person, signatureOver } from './cases/approval-cases.ts'
import { quantiles } from './quantiles.ts'
import { wholeNumber } from './report.ts'
import { usualOrShort } from './short.ts'
import { bearer, post, type Stage } from './stage.ts'

/** An owner has at most twenty streams: each agent waits for several intents. */
const AGENTS = 16
const INTENTS = usualOrShort(1_000, 100)
const ROUNDS = usualOrShort(3, 1)
const EUROS = 5

const APPROVAL = [{ aboveEuros: 0, of: 'owners', need: 2, withinMinutes: 240, then: 'deny' }]

interface WaitingAgent {
  readonly id: string
  readonly token: string
  /** Until its stream says that the intent is approved. */
  untilApproved(intentId: string): Promise<void>
  close(): void
}

/** From when the second yes is sent: until the agent has it, and until who sent it is answered. */
interface Times {
  readonly told: number
  readonly answered: number
}

type Quantiles = ReturnType<typeof quantiles>

interface SecondYes extends Readonly<Record<keyof Times, Quantiles>> {
  readonly perSecond: number
}

/** The time in milliseconds from when the second of two people sends a yes until the agent, which waits with a stream, has it. */
export async function measureWaitingAgents(
  stage: Stage,
  { device: first }: Person,
  connections: number,
): Promise<SecondYes[]> {
  const second = await addSigner(stage, 'person_second', first)
  const { id: policyId } = await call<{ id: string }>(stage, '/policies', { name: 'Two', approval: APPROVAL })
  const agents: WaitingAgent[] = []
  for (let n = 0; n < AGENTS; n++) agents.push(await aWaitingAgent(stage, String(policyId)))
  const rounds: SecondYes[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const waiting = await forEachOf({ from: 0, to: INTENTS - 1 }, n =>
      approvedByOne(stage, agents[n % AGENTS] as WaitingAgent, { first, second }),
    )
    const began = performance.now()
    const times: Times[] = []
    const goOn = async (): Promise<void> => {
      for (let next = waiting.pop(); next; next = waiting.pop()) times.push(await next())
    }
    await Promise.all(Array.from({ length: connections }, goOn))
    const measured = {
      perSecond: (times.length * 1_000) / (performance.now() - began),
      told: quantiles(times.map(({ told }) => told)),
      answered: quantiles(times.map(({ answered }) => answered)),
    }
    rounds.push(measured)
    printLine(`  second yes ${secondYesText(measured)} ms`)
  }
  for (const { close } of agents) close()
  return rounds
}

const quantilesText = ({ p50, p99 }: Quantiles): string => `${p50.toFixed(1)}/${p99.toFixed(1)}`

export const secondYesText = ({ perSecond, told, answered }: SecondYes): string =>
  `${wholeNumber(perSecond)}/s ${quantilesText(told)}, answered ${quantilesText(answered)}`

/** An intent that one has approved; what it gives sends the other's yes, and says how long the agent has waited for it. */
async function approvedByOne(
  stage: Stage,
  { id: agentId, token, untilApproved }: WaitingAgent,
  { first, second }: Readonly<Record<'first' | 'second', Person['device']>>,
): Promise<() => Promise<Times>> {
  const intent = { agentId, amountEuros: EUROS, merchant: 'Bookshop', purpose: 'A paper' }
  const { id = '' } = await post(stage.api, '/intents', intent, bearer({ token }))
  const path = `/intents/${id}/approve`
  await call(stage, path, await signatureOver(stage, id, first))
  const body = await signatureOver(stage, id, second)
  return async () => {
    const began = performance.now()
    const since = () => performance.now() - began
    const [told, answered] = await Promise.all([
      untilApproved(id).then(since),
      call(stage, path, body).then(since),
    ])
    return { told, answered }
  }
}

async function aWaitingAgent(stage: Stage, policyId: string): Promise<WaitingAgent> {
  const { id, walletId } = await call<{ id: string; walletId: string }>(stage, '/agents', {
    name: 'Waits',
    policyId,
  })
  await call(stage, `/wallets/${walletId}/fund`, { amountEuros: 100_000 })
  const { token } = await call<{ token: string }>(stage, `/agents/${id}/tokens`, { label: 'Bench' })
  const waiting = new Map<string, () => void>()
  const close = await readStream(stage, token, intentId => {
    waiting.get(intentId)?.()
    waiting.delete(intentId)
  })
  return {
    ...{ id, token, close },
    untilApproved: intentId => new Promise(resolve => void waiting.set(intentId, resolve)),
  }
}

async function readStream({ api }: Stage, token: string, onApproved: (intentId: string) => void) {
  const url = `${api.url}/events/stream?event=intent.approved`
  const sent = request(url, { agent: false, headers: bearer({ token }) }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  if (answer.statusCode !== 200) throw new Error(`the stream was answered with ${answer.statusCode}`)
  let rest = ''
  answer.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const intentId = /"intentId":"(\w+)"/.exec(line)?.[1]
      if (intentId) onApproved(intentId)
    }
  })
  answer.on('error', () => undefined)
  return () => void sent.destroy()
}
