import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readClientContract } from '../../../src/packages/write/contract.ts'
import { writeTypescriptPackage } from '../../../src/packages/write/typescript-package.ts'
import { loadedWith } from '../../support/packages/loaded.ts'
import { type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage } from '../stage.ts'

const IMPORTS = usualOrShort(21, 3)
/** Many short turns: other load affects both alike. */
const SLICES = usualOrShort(40, 4)
const CALLS = usualOrShort(250, 50)
const AT_ONCE = 8

interface Client {
  readonly agents: { get(id: string): Promise<{ readonly id: string }> }
}

type ClientClass = new (options: { url: string; token: string }) => Client

/** The import time and size of the TypeScript package, and its calls against the same ones by `fetch`. */
export async function measurePackages(stage: Stage): Promise<Section> {
  const folder = join(stage.folder, 'package')
  await writeTypescriptPackage(readClientContract(), folder)
  const entry = join(folder, 'lib/index.js')
  const bytes = [...loadedWith(entry).values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const importMs = medianOf(Array.from({ length: IMPORTS }, () => importTime(entry)))
  const calls = await measureCalls(stage, entry)
  const text = [
    tableLine(['import agentpay', `p50 ${importMs.toFixed(1)} ms`, `${wholeNumber(bytes)} bytes`]),
    tableLine([
      `GET /agents/{id}, ${AT_ONCE} at once, in ${SLICES} turns`,
      'a second',
      'typed call, share',
      'median of turns',
    ]),
    ...calls.map(({ title, perSecond, share, medianShare }) =>
      tableLine([title, `${wholeNumber(perSecond)}/s`, share.toFixed(2), medianShare.toFixed(2)]),
    ),
  ].join('\n')
  return { figures: { importMs, bytes, calls }, text }
}

const medianOf = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0

/** From within a fresh Node, so that its own start is not counted. */
function importTime(entry: string): number {
  const program = `const begin = performance.now()
    await import(${JSON.stringify(pathToFileURL(entry).href)})
    console.log(performance.now() - begin)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program]))
}

async function measureCalls(stage: Stage, entry: string) {
  const { id } = await post(stage.api, '/agents', { name: 'Bench' }, bearer(stage))
  const { AgentPay } = (await import(pathToFileURL(entry).href)) as { readonly AgentPay: ClientClass }
  const { url } = stage.api
  const pay = new AgentPay({ url, token: stage.token })
  const headers = { authorization: `Bearer ${stage.token}` }
  const get = async (init: RequestInit) =>
    (await fetch(`${url}/agents/${id}`, { headers, ...init })).json() as Promise<{ id: string }>
  return compared({
    fetch: () => get({}),
    // As an attempt of a typed call does.
    'fetch that ends after a minute': () => get({ signal: AbortSignal.timeout(60_000) }),
    'typed call': () => pay.agents.get(String(id)),
  })
}

const WARM_UP = usualOrShort(8, 1)

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

/** Compares the last of these calls with each. A turn has a slice of each, in rotating order. */
async function compared(calls: Readonly<Record<string, Calling>>) {
  const all = Object.entries(calls).map(([title, call]) => ({ title, call, seconds: [] as number[] }))
  for (let n = 0; n < WARM_UP; n++) for (const { call } of all) await secondsOf(call)
  for (let n = 0; n < SLICES; n++)
    for (const [at] of all.entries()) {
      const one = all[(at + n) % all.length]
      if (one) one.seconds.push(await secondsOf(one.call))
    }
  const last = all.at(-1)?.seconds ?? []
  return all.map(({ title, seconds }) => ({
    title,
    perSecond: (SLICES * CALLS) / sumOf(seconds),
    share: sumOf(seconds) / sumOf(last),
    medianShare: medianOf(seconds.map((took, turn) => took / (last[turn] ?? Number.NaN))),
  }))
}

type Calling = () => Promise<{ readonly id: string }>

async function secondsOf(call: Calling): Promise<number> {
  const begin = performance.now()
  let left = CALLS
  const worker = async (): Promise<void> => {
    while (left-- > 0) if (!(await call()).id) throw new Error('an answer without an id')
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return (performance.now() - begin) / 1_000
}
