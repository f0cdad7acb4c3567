import { RECORD_CHANGED_SIGNAL } from '../../../src/kernel/contract/process.ts'
import type { TestClient } from '../../support/client.ts'
import type { Receiver } from '../../support/delivery/receiver-server.ts'
import { until } from '../../support/until.ts'
import { type Installation, openAccount } from '../drill/installation.ts'
import { type OpenProcess, openProcesses, type Stage, signerOf, stageAt } from '../drill/open-processes.ts'
import { historyOf } from './histories.ts'

export interface OpenRun extends OpenProcess {
  /** The build that has completed its first task. */
  readonly begunBy: string
  /** It ends within hours, and stays with its build. */
  readonly isPinned: boolean
}

/** An account with a run of every flow. */
export interface Company {
  readonly client: TestClient
  readonly stage: Stage
  readonly runs: readonly OpenRun[]
}

let companies = 0

/** Begins a run of every flow. */
export async function openCompany(place: Installation, receiver: Receiver): Promise<Company> {
  const account = await openAccount(place, `Company ${++companies}`)
  const { client } = account
  const { dash, sql, temporal, urls } = place
  const signer = signerOf({ url: urls[0], sql }, account)
  const stage = stageAt(temporal, { client, dash, sql, signer }, receiver)
  const { open, refused } = await openProcesses(stage)
  if (refused.length > 0) throw new Error(JSON.stringify(refused))
  const runs = open.map(async run => {
    const [begunBy = ''] = (await historyOf(temporal, run.workflowId)).builds
    return { ...run, begunBy, isPinned: run.workflowId.startsWith('webhook/') }
  })
  return { client, stage, runs: await Promise.all(runs) }
}

/** Runs that are looked at together. */
const AT_ONCE = 16

export async function eachRun<T>(runs: readonly OpenRun[], look: (run: OpenRun) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let first = 0; first < runs.length; first += AT_ONCE)
    all.push(...(await Promise.all(runs.slice(first, first + AT_ONCE).map(look))))
  return all
}

/** Wakes all open runs, and waits until each has gone on: with its own build if it is pinned, otherwise with this one. */
export async function goOnWith(
  { temporal }: Installation,
  runs: readonly OpenRun[],
  current: string,
): Promise<void> {
  await eachRun(runs, async ({ workflowId, isPinned, begunBy }) => {
    const expected = isPinned ? begunBy : current
    let tasks = -1
    await until(`${workflowId} goes on with ${expected}`, async () => {
      const { builds } = await historyOf(temporal, workflowId)
      if (tasks >= 0 && builds.length > tasks && builds.at(-1) === expected) return true
      // The server takes a moment to tell all its parts which build is current.
      if (builds.length > tasks) await temporal.workflow.getHandle(workflowId).signal(RECORD_CHANGED_SIGNAL)
      tasks = builds.length
      return false
    })
  })
}

/** As an operator does: the receivers work again, and each delivery of these builds is sent at once. */
export async function endPinned(
  { temporal }: Installation,
  companies: readonly Company[],
  builds: readonly string[],
): Promise<void> {
  for (const { stage, runs } of companies)
    for (const { workflowId } of runs.filter(run => run.isPinned && builds.includes(run.begunBy))) {
      await temporal.workflow.getHandle(workflowId).signal('retryNow')
      await stage.resultOf(workflowId)
    }
}
