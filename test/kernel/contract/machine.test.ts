import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { stateMachine } from '../../../src/kernel/contract/machine.ts'

const door = stateMachine('door', { open: ['shut'], shut: ['open', 'locked'], locked: ['shut'], gone: [] })

const state = fc.constantFrom(...door.states)

describe('a state machine', () => {
  test('begins in its first state and lists all states', () => {
    expect(door.initial).toBe('open')
    expect(door.states).toEqual(['open', 'shut', 'locked', 'gone'])
  })

  test('allows the moves of its table and no others', () => {
    fc.assert(
      fc.property(state, state, (from, to) => {
        const record = { status: from }
        const allowed = door.table[from].includes(to)
        expect([door.can(from, to), door.move(record, to)]).toEqual([allowed, allowed])
        expect(record.status).toBe(allowed ? to : from)
      }),
    )
  })

  test('a state machine never takes a step outside its table', () => {
    fc.assert(
      fc.property(fc.array(state), wishes => {
        const record: { status: (typeof door.states)[number] } = { status: door.initial }
        for (const wish of wishes) {
          const before = record.status
          door.move(record, wish)
          expect(record.status === before || door.can(before, record.status)).toBe(true)
        }
      }),
    )
  })

  test('changes nothing but the status of the record', () => {
    const record = { status: 'open' as const, name: 'front' }
    door.move(record, 'shut')
    expect(record).toEqual({ status: 'shut', name: 'front' })
  })
})
