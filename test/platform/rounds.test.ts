import { expect, test } from '@jest/globals'
import { repeatEvery } from '../../src/platform/rounds.ts'
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
