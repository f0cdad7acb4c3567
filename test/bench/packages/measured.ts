import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readContract } from '../../../src/packages/write/contract.ts'
import { writeTypescriptPackage } from '../../../src/packages/write/typescript-package.ts'
import { loadedWith } from '../../support/packages/loaded.ts'
import { ratio, type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage } from '../stage.ts'

const IMPORTS = usualOrShort(21, 3)
const ROUNDS = usualOrShort(5, 1)
const CALLS = usualOrShort(3_000, 200)
const AT_ONCE = 8

interface Client {
  readonly agents: { get(id: string): Promise<{ readonly id: string }> }
}

type ClientClass = new (options: { url: string; token: string }) => Client

/** What importing the package of TypeScript takes, what it weighs, and its calls beside the same ones by `fetch`. */
export async function measurePackages(stage: Stage): Promise<Section> {
  const folder = join(stage.folder, 'package')
  await writeTypescriptPackage(readContract(), folder)
  const entry = join(folder, 'lib/index.js')
  const bytes = [...loadedWith(entry).values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const importMs = medianOf(Array.from({ length: IMPORTS }, () => importTime(entry)))
  const rates = await measureCalls(stage, entry)
  const text = [
    tableLine(['import agentpay', `p50 ${importMs.toFixed(1)} ms`, `${wholeNumber(bytes)} bytes`]),
    tableLine([`GET /agents/{id}, ${AT_ONCE} at once, in turns`, 'fetch', 'typed', 'share']),
    ...rates.map(({ plain, typed }) =>
      tableLine(['', `${wholeNumber(plain)}/s`, `${wholeNumber(typed)}/s`, ratio(typed, plain)]),
    ),
  ].join('\n')
  return { figures: { importMs, bytes, rates }, text }
}

const medianOf = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? 0

/** From within a fresh Node, so that its own start is left out. */
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
  const typed = () => pay.agents.get(String(id))
  const plain = async () =>
    (await fetch(`${url}/agents/${id}`, { headers })).json() as Promise<{ id: string }>
  const rates: { plain: number; typed: number }[] = []
  await rateOf(typed)
  await rateOf(plain)
  for (let round = 0; round < ROUNDS; round++)
    rates.push({ plain: await rateOf(plain), typed: await rateOf(typed) })
  return rates
}

/** How many of these calls are answered in a second. */
async function rateOf(call: () => Promise<{ readonly id: string }>): Promise<number> {
  const begin = performance.now()
  let left = CALLS
  const worker = async (): Promise<void> => {
    while (left-- > 0) if (!(await call()).id) throw new Error('an answer without an id')
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return (CALLS / (performance.now() - begin)) * 1_000
}
