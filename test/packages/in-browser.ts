import { readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { inFrontOf } from '../support/http/in-front.ts'
import { useBrowser } from '../support/web/browser.ts'
import { folder, service } from './installed-service.ts'

const visit = useBrowser()
const installed = join(folder, 'node_modules')

const PROGRAM = `import { AgentPay, Refused } from '/modules/agentpay/lib/index.js'
export async function run(key) {
  const pay = new AgentPay({ url: location.origin, token: key })
  const { id } = await pay.agents.create({ name: 'From a browser' })
  await pay.agents.freeze(id, { reason: 'Unusual' })
  const agents = []
  for await (const one of pay.agents.list()) agents.push([one.name, one.status])
  const refused = await pay.agents.get('agent_of_nobody').catch(error => [error instanceof Refused, error.code])
  return JSON.stringify({ agents, refused })
}`

/** Our server's files: a page, and unbundled modules. */
const pages: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/page': [
    'text/html',
    `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><p></p><script type="module">
import { run } from '/program.js'
document.querySelector('p').textContent = await run(decodeURIComponent(location.hash.slice(1)))
</script>`,
  ],
  '/worker': [
    'text/html',
    `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><p></p><script type="module">
const worker = new Worker('/worker.js', { type: 'module' })
worker.onmessage = ({ data }) => { document.querySelector('p').textContent = data }
worker.postMessage(decodeURIComponent(location.hash.slice(1)))
</script>`,
  ],
  '/program.js': ['text/javascript', PROGRAM],
  '/worker.js': [
    'text/javascript',
    `import { run } from '/program.js'
onmessage = async ({ data }) => postMessage(await run(data))`,
  ],
}

/** A user's server: its own pages and modules, and the service behind the same origin. */
const origin = await inFrontOf(service.url, (asked, answer, handOn) => {
  const path = new URL(asked.url ?? '/', 'http://localhost').pathname
  const page = pages[path]
  if (page) return void answer.writeHead(200, { 'content-type': page[0] }).end(page[1])
  const file = /^\/modules(\/agentpay\/lib\/.+\.js)$/.exec(normalize(path))?.[1]
  if (file) {
    answer.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(join(installed, file)))
    return
  }
  const { host: _, ...headers } = asked.headers
  handOn(headers)
})

describe('the package of TypeScript in Chromium, as it was installed', () => {
  test.each(['page', 'worker'])('is imported by a module of a %s, and calls the service', async place => {
    const { key } = await service.owner()
    const { page, complaints } = await visit(`${origin}/${place}#${encodeURIComponent(key)}`)
    const told = page.locator('p').filter({ hasText: '{' })
    await told.waitFor()
    expect(JSON.parse(await told.innerText())).toEqual({
      agents: [['From a browser', 'frozen']],
      refused: [true, 'agent_not_found'],
    })
    // The refusal is an HTTP error, which browsers report in their console.
    expect(complaints.filter(text => !text.includes('404'))).toEqual([])
  })
})
