import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { area, reactionToAll } from '../../../src/kernel/contract/area.ts'
import type { ApiResponse } from '../../../src/kernel/contract/call.ts'
import type { Context } from '../../../src/kernel/contract/context.ts'
import { bindHandlers, post } from '../../../src/kernel/contract/operation.ts'
import { newId } from '../../../src/values/ids.ts'
import { cents, moneySchema } from '../../../src/values/money.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { startEngine } from '../../support/engine.ts'
import { anAgent } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const tenant = { ownerId: 'customer_1', mode: 'test' } as const
const Note = z.object({ id: z.string(), text: z.string() })

type Work = (context: WorkContext, body: { text: string }) => Promise<unknown>
/** Some works emit or refuse what the contract does not say. */
type WorkContext = Context<string, (typeof api)['write']['emits']>
let work: Work = async () => undefined

const NoteWritten = z.object({ noteId: z.string(), costCents: moneySchema.optional() })

const api = {
  write: post('/notes', {
    summary: 'Write a note',
    callers: ['key'],
    body: z.strictObject({ text: z.string() }),
    returns: [201, Note],
    emits: { 'note.written': NoteWritten, 'note.counted': z.unknown() },
  }),
}

/** The events that the area's reaction got, by call. */
const reactedTo: (readonly z.output<typeof NoteWritten>[])[] = []

const notes = area(
  'Notes',
  'Notes.',
  bindHandlers(api, {
    write: ({ body }, context) => work(context as WorkContext, body) as Promise<z.output<typeof Note>>,
  }),
  {
    reactions: { 'note.written': reactionToAll(NoteWritten, {}, async notes => void reactedTo.push(notes)) },
  },
)

const engine = await startEngine(
  { ...areas, notes },
  'create table notes (id text primary key, text text not null unique deferrable initially deferred, seen int default 0)',
)

const run = (handler: Work, text = newId('text')): Promise<ApiResponse> => {
  work = handler
  return engine.run(tenant, 'notes.write', { body: { text } })
}

const insert = (sql: Context['sql'], text: string): Promise<unknown> =>
  sql('insert into notes (id, text) values ($1, $2)', [text, text])

async function traces(text: string): Promise<unknown> {
  const { rows } = await engine.sql(
    `select (select count(*)::int from notes where text = $1) as notes,
      (select count(*)::int from events where data ->> 'noteId' = $1) as events`,
    [text],
  )
  return rows[0]
}

const write: Work = async ({ sql, emit }, { text }) => {
  await insert(sql, text)
  emit('note.written', { noteId: text })
  return { id: text, text }
}

describe('a plain operation', () => {
  test('stores its record and its event', async () => {
    expect((await run(write, 'a')).status).toBe(201)
    expect(await traces('a')).toEqual({ notes: 1, events: 1 })
  })

  const defects: [string, Work][] = [
    [
      'throws',
      async (context, body) => {
        await write(context, body)
        throw new Error('unexpected')
      },
    ],
    [
      'emits what it has not declared',
      async (context, body) => {
        await write(context, body)
        ;(context.emit as (event: string, data: unknown) => void)('note.burned', {})
      },
    ],
    [
      'emits an event that is not as declared',
      async (context, body) => {
        await write(context, body)
        context.emit('note.written', { noteId: 1 as never })
      },
    ],
    ['refuses as it has not declared', async ({ refuse }) => refuse('note_too_long')],
    [
      'returns what the contract does not promise',
      async (...all) => ({ ...((await write(...all)) as object), text: 1 }),
    ],
    [
      'overlooks an error of the database',
      async (context, body) => {
        await insert(context.sql, body.text)
        await context.sql('select 1 / 0').catch(() => undefined)
        return { id: body.text, text: body.text }
      },
    ],
  ]
  test.each(defects)('that %s is rolled back', async (name, handler) => {
    await expect(run(handler, name)).rejects.toThrow()
    expect(await traces(name)).toEqual({ notes: 0, events: 0 })
  })

  test('returns no more than its contract names', async () => {
    const telling: Work = async (...all) => ({ ...((await write(...all)) as object), secret: 'hunter2' })
    const { body } = await run(telling, 'b')
    expect(JSON.parse(String(body))).toEqual({ id: 'b', text: 'b' })
  })

  test('runs reactions once for consecutive events of one name', async () => {
    reactedTo.length = 0
    const dear = { noteId: '4', costCents: cents(250n) }
    await run(async ({ emit, runReactions }, { text }) => {
      for (const noteId of ['1', '2']) emit('note.written', { noteId })
      emit('note.counted', {})
      emit('note.written', { noteId: '3' })
      await runReactions()
      emit('note.written', dear)
      return { id: text, text }
    })
    expect(reactedTo).toEqual([[{ noteId: '1' }, { noteId: '2' }], [{ noteId: '3' }], [dear]])
  })

  test('that meets a deadlock is tried again', async () => {
    await engine.sql(`insert into notes (id, text) values ('left', 'left'), ('right', 'right')`)
    let tries = 0
    const both = Promise.withResolvers<void>()
    const cross: Work = async ({ sql }, { text }) => {
      const ids = text === 'x' ? ['left', 'right'] : ['right', 'left']
      await sql('update notes set seen = seen + 1 where id = $1', [ids[0]])
      if (++tries === 2) both.resolve()
      await both.promise
      await sql('update notes set seen = seen + 1 where id = $1', [ids[1]])
      return { id: text, text }
    }
    const outcomes = await Promise.all(['x', 'y'].map(text => run(cross, text)))
    expect(statusCounts(outcomes)).toEqual({ 201: 2 })
    expect(tries).toBeGreaterThan(2)
    const { rows } = await engine.sql(
      `select sum(seen)::int as seen from notes where id in ('left', 'right')`,
    )
    expect(rows[0].seen).toBe(4)
  })

  test('waits for what it has sent along, and has it written', async () => {
    const along: Work = async ({ sql, emit, queueStatement }, { text }) => {
      queueStatement(insert(sql, text))
      emit('note.written', { noteId: text })
      return { id: text, text }
    }
    expect((await run(along, 'along')).status).toBe(201)
    expect(await traces('along')).toEqual({ notes: 1, events: 1 })
  })

  test('reports the first failed statement, whichever one it awaits', async () => {
    const missing = { code: '42703' }
    const sendsAlong: Work = async (context, body) => {
      context.queueStatement(context.sql('select nothing'))
      return write(context, body)
    }
    await expect(run(sendsAlong, 'first')).rejects.toMatchObject(missing)
    const sendsLast: Work = async (context, body) => {
      const written = await write(context, body)
      context.queueStatement(context.sql('select nothing'))
      return written
    }
    await expect(run(sendsLast, 'last')).rejects.toMatchObject(missing)
    const together: Work = async ({ sql }) =>
      Promise.all([
        sql('select nothing')
          .then(rows => rows.at(0))
          .then(row => row?.id),
        sql('select 1'),
      ])
    await expect(run(together, 'together')).rejects.toMatchObject(missing)
    expect(await traces('first')).toEqual({ notes: 0, events: 0 })
    expect(await traces('last')).toEqual({ notes: 0, events: 0 })
  })

  test('that fails at commit leaves nothing, and its connection serves the next one', async () => {
    await run(write, 'taken')
    const duplicate: Work = async (context, body) => {
      await context.sql('insert into notes (id, text) values ($1, $2)', [newId('note'), 'taken'])
      context.emit('note.written', { noteId: body.text })
      return { id: body.text, text: body.text }
    }
    await expect(run(duplicate, 'late')).rejects.toThrow()
    expect(await traces('late')).toEqual({ notes: 0, events: 0 })
    expect(statusCounts(await times(20, () => run(write)))).toEqual({ 201: 20 })
  })
})

const service = await startTestService()

describe('concurrent plain operations', () => {
  test('that claim the same external id succeed once; the others are refused', async () => {
    const { client } = await service.owner()
    const answers = await times(20, () => client.agents.create({ body: { name: 'A', externalId: 'one' } }))
    expect(statusCounts(answers)).toEqual({ 201: 1, 409: 19 })
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'external_id_taken']))
  })

  test('that freeze and unfreeze an agent leave a history that its state machine allows', async () => {
    const { client } = await service.owner()
    const { id } = await anAgent(client)
    const answers = await times(30, index =>
      index % 2
        ? client.agents.freeze({ params: { id }, body: {} })
        : client.agents.unfreeze({ params: { id } }),
    )
    const moved = answers.filter(({ status }) => status === 200).length
    const { body } = await client.events.list({ query: { limit: 100 } })
    const history = body.data
      .map(({ event }) => event)
      .filter(event => /frozen$/.test(event))
      .toReversed()
    expect(history.length).toBe(moved)
    for (const [index, event] of history.entries())
      expect(event).toBe(index % 2 ? 'agent.unfrozen' : 'agent.frozen')
  })

  test('that create an agent with an unknown template store neither', async () => {
    const { client } = await service.owner()
    const { status, code } = await client.agents.create({ body: { name: 'A', policyId: 'policy_of_nobody' } })
    expect({ status, code }).toEqual({ status: 404, code: 'unknown_reference' })
    expect((await client.agents.list()).body.data).toEqual([])
    expect((await client.events.list()).body.data.filter(({ event }) => event.startsWith('agent'))).toEqual(
      [],
    )
  })
})
