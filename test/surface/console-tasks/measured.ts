import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { service } from '../console/visitors.ts'
import { openAsOwner } from '../console-pages/devices.ts'
import { countPresses } from './presses.ts'
import { type Task, tasks } from './tasks.ts'

const DOC = new URL('../../../docs/reference/console-tasks.md', import.meta.url)
const origin = service.url.replace('127.0.0.1', 'localhost')
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const desktop = { viewport: { width: 1280, height: 800 } }

interface Measured {
  readonly task: Task
  readonly presses: number
  readonly seconds: number
}

async function measure(task: Task): Promise<Measured> {
  const { client } = await service.owner()
  const { page } = await openAsOwner(client, task.isOnPhone ? phone : desktop)
  const address = await task.prepare(client)
  const from = performance.now()
  await page.goto(`${origin}/${address}`)
  const presses = countPresses(page, task.isOnPhone)
  await task.run(page, presses)
  // A tap on the notification opens the page.
  const opening = task.isOnPhone ? 1 : 0
  return { task, presses: presses.count + opening, seconds: (performance.now() - from) / 1_000 }
}

const lineOf = ({ task, presses }: Measured): string =>
  `| ${task.name} | ${presses}${task.isSigned ? ' and the passkey' : ''} | ${task.most} |`

test('each task takes no more presses than its bound, and as many as its page says', async () => {
  const measured: Measured[] = []
  for (const task of tasks) measured.push(await measure(task))
  const over = measured.filter(({ task, presses }) => presses > task.most)
  expect(over.map(({ task, presses }) => [task.name, presses])).toEqual([])
  if (process.env.WRITE_TASKS) writeTable(measured)
  const page = readFileSync(DOC, 'utf8')
  for (const one of measured) expect(page).toContain(lineOf(one).slice(0, -1))
}, 300_000)

function writeTable(measured: readonly Measured[]): void {
  const lines = measured.map(one => `${lineOf(one)} ${one.seconds.toFixed(1)} |`)
  const table = ['| task | presses | bound | seconds |', '|---|---|--:|--:|', ...lines].join('\n')
  const page = readFileSync(DOC, 'utf8')
  writeFileSync(DOC, page.replace(/\| task \|[\s\S]*?(?=\n\n|\n$)/, table))
}
