import { setTimeout as sleep } from 'node:timers/promises'
import { printLine } from '../../../src/platform/output.ts'
import { type Case, measure, type Request, type Result } from '../case.ts'
import {
  APPROVED,
  asking,
  authorizationCases,
  clearing,
  doorRequest,
  NOTED,
  somePayments,
} from '../cases/authorization-cases.ts'
import { answerOf } from '../child.ts'
import { CARDS, fillCards, processorIdOf } from '../database/card-rows.ts'
import { fillAgents } from '../database/intent-rows.ts'
import type { Job, Measured } from '../load/load.ts'
import { type Loads, measureLoads, SECONDS } from '../loads.ts'
import { loadTable, ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, withClient } from '../stage.ts'
import { measureReveal } from './reveal.ts'

const CLEARING_CONNECTIONS = 32
/** The connections that the processor would hold open: enough that no request waits for one. */
const OPEN_CONNECTIONS = 256
const PACED_SECONDS = usualOrShort(20, 2)
const LOCKED_SECONDS = usualOrShort(10, 3)
/** Requests of the agent with locked rows, per second. */
const LOCKED_PER_SECOND = 5

export async function measureAuthorizations(stage: Stage): Promise<Section> {
  await fillAgents(stage)
  await fillCards(stage)
  const cases = authorizationCases(stage)
  const authorizations = await measureLoads(stage, cases)
  const paced = await measurePaced(stage, authorizations)
  const locked = await measureLocked(stage, authorizations)
  const clearings = await measureClearings(stage)
  const reveal = await measureReveal(stage)
  return {
    figures: { authorizations, paced, locked, clearings, reveal },
    text: [
      loadTable(cases, authorizations),
      '',
      ...paced.map(pacedLine),
      lockedLine(locked),
      tableLine([
        `clearings, ${CARDS} agents, ${CLEARING_CONNECTIONS} connections`,
        `${wholeNumber(clearings.perSecond)}/s ${timesOf(clearings)}`,
      ]),
      ...reveal.map(({ name, connections, ...measured }) =>
        tableLine([`${name}, ${connections} connections`, timesOf(measured)]),
      ),
    ].join('\n'),
  }
}

/** The constant rate of arrivals: half of the highest measured rate. */
const halfOf = ({ results }: Loads, name: string): number =>
  Math.max(...results.filter(result => result.name === name).map(({ perSecond }) => perSecond)) / 2

const load = (stage: Stage, request: Request, members: Partial<Job>): Promise<Measured> =>
  answerOf<Measured>('test/bench/load/load.ts', {
    ...request,
    url: stage.api.url,
    connections: OPEN_CONNECTIONS,
    ...members,
  })

interface Paced extends Measured {
  readonly title: string
  readonly arrivalsPerSecond: number
}

/** Requests at a constant rate, each timed from its planned instant. */
async function measurePaced(stage: Stage, loads: Loads): Promise<Paced[]> {
  const paced: Paced[] = []
  for (const [cover, name] of [
    ['uncovered', 'payments'],
    ['covered', 'intentPayments'],
  ] as const) {
    const arrivalsPerSecond = halfOf(loads, name)
    const payments = await somePayments(
      stage,
      cover,
      CARDS,
      Math.ceil(arrivalsPerSecond * (PACED_SECONDS + 2)),
    )
    const request = doorRequest(asking(cover), payments, CARDS, APPROVED)
    const measured = await load(stage, request, { seconds: PACED_SECONDS, arrivalsPerSecond })
    paced.push({ title: `${name} at a constant rate`, arrivalsPerSecond, ...measured })
    printLine(`  ${name}, ${wholeNumber(arrivalsPerSecond)} a second: ${timesOf(measured)}`)
  }
  return paced
}

interface Locked {
  readonly free: Measured
  readonly locked: Measured
  readonly own: Measured
}

/** Requests of all agents but one, and a few of that one, while its rows are locked and while they are not. */
async function measureLocked(stage: Stage, loads: Loads): Promise<Locked> {
  const arrivalsPerSecond = halfOf(loads, 'payments')
  const besides = async () => {
    const seconds = LOCKED_SECONDS - 1
    const count = Math.ceil(arrivalsPerSecond * (seconds + 2))
    const others = await somePayments(stage, 'uncovered', CARDS, count)
    const own = await somePayments(stage, 'uncovered', 1, LOCKED_PER_SECOND * (seconds + 2))
    const ofOthers = doorRequest(asking('uncovered'), others, CARDS - 1, APPROVED)
    const ofOwn = doorRequest(asking('uncovered'), own, 1)
    const last = { ...ofOwn.messages, cards: [processorIdOf(CARDS)] } as NonNullable<Request['messages']>
    return Promise.all([
      load(stage, ofOthers, { seconds, arrivalsPerSecond }),
      load(stage, { ...ofOwn, messages: last }, { seconds, arrivalsPerSecond: LOCKED_PER_SECOND }),
    ])
  }
  const [free] = await besides()
  const [locked, own] = await whileLocked(stage, `agent_bench_${CARDS}`, besides)
  printLine(`  one agent locked: others ${timesOf(locked)}, without the lock ${timesOf(free)}`)
  return { free, locked, own }
}

/** Runs the work while a connection of the bench locks the rows of this agent. */
const whileLocked = <T>(stage: Stage, agentId: string, work: () => Promise<T>): Promise<T> =>
  withClient(stage, async client => {
    await client.query('begin')
    await client.query('select from agents where id = $1 for update', [agentId])
    const [done] = await Promise.all([work(), sleep(LOCKED_SECONDS * 1_000)])
    await client.query('commit')
    return done
  })

/** Clears payments authorized immediately before; the better of two rounds. */
async function measureClearings(stage: Stage): Promise<Result> {
  const cleared: Case = {
    name: 'clearings',
    title: 'clearings',
    server: stage.api,
    async request() {
      const payments = await somePayments(stage, 'uncovered', CARDS, usualOrShort(8_000, 1_500))
      const most = payments.to - payments.from + 1
      const request = doorRequest(asking('uncovered'), payments, CARDS, APPROVED)
      await load(stage, request, { connections: CLEARING_CONNECTIONS, seconds: 600, most })
      return doorRequest(clearing, payments, CARDS, NOTED)
    },
  }
  const rounds: Result[] = []
  for (let round = 0; round < 2; round++)
    rounds.push(await measure(stage, cleared, CLEARING_CONNECTIONS, SECONDS))
  return rounds.reduce((one, other) => (other.perSecond > one.perSecond ? other : one))
}

const timesOf = ({ p50, p99, p999, longest }: Measured): string =>
  `p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} p99.9 ${p999.toFixed(1)} longest ${longest.toFixed(0)} ms`

const pacedLine = (paced: Paced): string =>
  tableLine([
    `${paced.title}, ${wholeNumber(paced.arrivalsPerSecond)} a second`,
    `${timesOf(paced)}${paced.failed > 0 ? `, ${paced.failed} failed` : ''}`,
  ])

const lockedLine = ({ free, locked, own }: Locked): string =>
  [
    tableLine(['others, nothing locked', timesOf(free)]),
    tableLine(['others, one agent’s rows locked', timesOf(locked)]),
    tableLine(['locked / not locked, by p99', ratio(locked.p99, free.p99)]),
    tableLine([`the locked agent’s own answers, ${own.sent} requests`, timesOf(own)]),
  ].join('\n')
