import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

const AGAIN_AFTER = 1_000

type OnNotice = (payload?: string) => void

export interface ChannelListener {
  /** Also called, without a payload, once it listens and after each lost connection, as notices may have been missed. */
  on(channel: string, onNotice: OnNotice): () => void
  stop(): Promise<void>
}

/**
 * Listens on channels of PostgreSQL's NOTIFY, all on one connection: a notice wakes every connection that
 * listens. It connects for the first channel, and again after the connection was lost.
 */
export function openListener(databaseUrl: string): ChannelListener {
  const channels = new Map<string, Set<OnNotice>>()
  let client: pg.Client | undefined
  let isListening = false
  let stopped = false
  let running: Promise<void> | undefined

  const notify = (channel: string, payload?: string): void => {
    for (const onNotice of channels.get(channel) ?? []) onNotice(payload)
  }

  async function connect(): Promise<void> {
    client = new pg.Client({ connectionString: databaseUrl, keepAlive: true })
    client.on('notification', ({ channel, payload }) => notify(channel, payload))
    const lost = new Promise<void>(resolve => client?.on('error', () => resolve()).on('end', () => resolve()))
    await client.connect()
    const names = [...channels.keys()]
    await client.query(names.map(name => `listen ${name}`).join('; '))
    isListening = true
    const late = [...channels.keys()].filter(name => !names.includes(name))
    for (const name of late) await client.query(`listen ${name}`)
    for (const name of channels.keys()) notify(name)
    await lost
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await connect().catch(() => undefined)
      isListening = false
      if (!stopped) await pause(AGAIN_AFTER, undefined, { ref: false })
    }
  }

  return {
    on(channel, onNotice) {
      const known = channels.get(channel)
      channels.set(channel, (known ?? new Set()).add(onNotice))
      running ??= run()
      if (isListening && known) onNotice()
      else if (isListening)
        void client?.query(`listen ${channel}`).then(
          () => notify(channel),
          () => undefined,
        )
      return () => void channels.get(channel)?.delete(onNotice)
    },
    async stop() {
      stopped = true
      await client?.end().catch(() => undefined)
      await Promise.race([running, pause(AGAIN_AFTER, undefined, { ref: false })])
    },
  }
}
