import { describe, expect, test } from '@jest/globals'
import { trendOf } from './trend.ts'

const bound = { share: 0.1, least: 5 }

const trend = (valueAt: (minute: number) => number) => {
  const points = Array.from({ length: 40 }, (_, minute) => ({ minute, value: valueAt(minute) }))
  return trendOf({ name: 'memory', points, bound })
}

/** Up and down, without a slope. */
const noise = (minute: number, size: number): number => (minute % 2 === 0 ? size : -size)

describe('a figure of a soak', () => {
  test('grows if its line leaves the bound', () => {
    expect(trend(minute => 100 + minute + noise(minute, 3)).grows).toBe(true)
    expect(trend(minute => 100 + minute).perHour).toBeCloseTo(60)
  })

  test('is flat within the bound, however steady its growth is', () => {
    expect(trend(minute => 100 + 0.1 * minute).grows).toBe(false)
  })

  test('is flat if the growth may be chance', () => {
    expect(trend(minute => 100 + 0.5 * minute + noise(minute, 60)).grows).toBe(false)
  })

  test('is flat if it only grew at first', () => {
    expect(trend(minute => 100 + 20 * Math.min(minute, 9)).grows).toBe(false)
  })
})
