import { describe, expect, test } from '@jest/globals'
import { repeatEvery, repeatOnWake } from '../../src/platform/rounds.ts'
import { until } from '../support/until.ts'

test('rounds follow each other, never two at once, and report failures', async () => {
  let underWay = 0
  let maximum = 0
  let rounds = 0
  const failures: unknown[] = []
  const work = async () => {
    maximum = Math.max(maximum, ++underWay)
    await Promise.resolve()
    underWay--
    if (++rounds === 2) throw new Error('no')
  }
  const running = repeatEvery(1, work, error => failures.push(error))
  await until('it has gone on', () => rounds >= 5)
  await running.stop()
  expect([maximum, failures]).toEqual([1, [new Error('no')]])
  const before = rounds
  await Promise.resolve()
  expect(rounds).toBe(before)
})

test('stopping waits for the round under way and begins no other', async () => {
  let release = (): void => undefined
  let rounds = 0
  const work = () =>
    new Promise<void>(resolve => {
      rounds++
      release = resolve
    })
  const running = repeatEvery(3_600_000, work, () => undefined)
  await until('it is under way', () => rounds === 1)
  let stopped = false
  const stopping = running.stop().then(() => {
    stopped = true
  })
  await Promise.resolve()
  expect(stopped).toBe(false)
  release()
  await stopping
  expect(rounds).toBe(1)
})

describe('rounds on a wake-up', () => {
  test('begin with one, rest until they are woken, and share a round among wake-ups that are close together', async () => {
    let rounds = 0
    const running = repeatOnWake(
      20,
      async () => rounds++,
      () => undefined,
    )
    await until('the first has run', () => rounds === 1)
    for (let n = 0; n < 10; n++) running.wake()
    await until('the second has run', () => rounds === 2)
    await new Promise(resolve => setTimeout(resolve, 60))
    expect(rounds).toBe(2)
    await running.stop()
  })

  test('repeat a round that failed, and one during which they were woken', async () => {
    let rounds = 0
    const failures: unknown[] = []
    const running = repeatOnWake(
      1,
      async () => {
        rounds++
        if (rounds === 1) throw new Error('no')
        if (rounds === 2) running.wake()
      },
      error => failures.push(error),
    )
    await until('three have run', () => rounds === 3)
    expect(failures).toEqual([new Error('no')])
    await running.stop()
    running.wake()
    await Promise.resolve()
    expect(rounds).toBe(3)
  })
})
