import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const AGAIN_AFTER = 1_000

export interface Listener {
  stop(): Promise<void>
}

/**
 * Listens on a channel of PostgreSQL's NOTIFY. After a lost connection it reconnects and calls `onNotice`, as
 * notices may have been missed.
 */
export function listen(databaseUrl: string, channel: string, onNotice: (payload?: string) => void): Listener {
  let stopped = false
  let client: pg.Client | undefined

  async function connect(): Promise<void> {
    client = new pg.Client({ connectionString: databaseUrl, keepAlive: true })
    client.on('notification', ({ payload }) => onNotice(payload))
    const lost = new Promise<void>(resolve => client?.on('error', () => resolve()).on('end', () => resolve()))
    await client.connect()
    await client.query(`listen ${channel}`)
    onNotice()
    await lost
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await connect().catch(() => undefined)
      if (!stopped) await pause(AGAIN_AFTER, undefined, { ref: false })
    }
  }

  const running = run()
  return {
    async stop() {
      stopped = true
      await client?.end().catch(() => undefined)
      await Promise.race([running, pause(AGAIN_AFTER, undefined, { ref: false })])
    },
  }
}
