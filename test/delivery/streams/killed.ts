import { afterAll, describe, expect, test } from '@jest/globals'
import { type EventStream, openStream } from '../../support/delivery/event-stream.ts'
import { anAgent } from '../../support/factories.ts'
import { killableApi } from '../../support/processes/killable-api.ts'

const STREAMS = 20

describe('20 streams whose API is killed by SIGKILL while events are written', () => {
  const opened: EventStream[] = []
  afterAll(() => {
    for (const stream of opened) stream.close()
  })

  test('resume, each with every event and none twice but under its id', async () => {
    const api = await killableApi()
    const key = await api.owner()
    const open = async (lastEventId?: string): Promise<EventStream> => {
      const stream = await openStream(api.url(), { token: key, lastEventId })
      opened.push(stream)
      return stream
    }
    const first = await Promise.all(Array.from({ length: STREAMS }, () => open()))
    expect(first.map(({ status }) => status)).toEqual(first.map(() => 200))
    let isWriting = true
    const write = async (): Promise<void> => {
      while (isWriting) await anAgent(api.client(key)).catch(() => undefined)
    }
    const endless = () => Promise.all([1, 2, 3, 4].map(write)).then(() => Promise.reject(new Error('killed')))
    const killed = api.killDuring(endless, () => first.every(({ ids }) => ids.length > 10))
    await Promise.all(first.map(({ ended }) => ended))
    isWriting = false
    await killed
    const second = await Promise.all(first.map(({ ids }) => open(ids.at(-1))))
    expect(second.map(({ status }) => status)).toEqual(second.map(() => 200))
    await anAgent(api.client(key))
    const rows = await api.sql<{ id: string }>('select id from events order by written_in, id')
    const all = rows.map(({ id }) => id)
    const last = all.at(-1) as string
    await Promise.all(second.map(stream => stream.hasAll([last])))
    const fromFirst = all.slice(all.indexOf(first[0]?.ids[0] as string))
    for (const [n, { ids }] of first.entries()) expect([...ids, ...(second[n]?.ids ?? [])]).toEqual(fromFirst)
    for (const stream of second) stream.close()
    await api.stop()
  })
})
