import { Agent } from 'undici'

/** The work of this program: a number of requests with one body over some connections. */
export interface Posts {
  readonly url: string
  readonly body: string
  readonly count: number
  readonly connections: number
}

const { url, body, count, connections } = JSON.parse(process.argv[2] ?? '') as Posts
const agent = new Agent({ connections })
const { origin, pathname: path } = new URL(url)
const headers = { 'content-type': 'application/json' }
let sent = 0

async function converse(): Promise<void> {
  while (sent++ < count) {
    const answer = await agent.request({ origin, path, method: 'POST', headers, body })
    await answer.body.dump()
  }
}

const began = performance.now()
await Promise.all(Array.from({ length: connections }, converse))
process.stdout.write(JSON.stringify((count * 1_000) / (performance.now() - began)))
await agent.close()
