import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { parseYaml } from '@redocly/openapi-core'
import settings from '../../temporal-config/dev-server.json' with { type: 'json' }
import ofProduction from '../../temporal-config/production-server.json' with { type: 'json' }

const { dynamicConfig, releases } = settings

const production = parseYaml(readFileSync('temporal-config/dynamicconfig.yaml', 'utf8')) as Readonly<
  Record<string, readonly { readonly value: unknown }[]>
>

describe('the dynamic configuration of Temporal', () => {
  test.each(['transfer', 'timer', 'visibility'])(
    'lets no task of the %s queue wait for the next twentieth of a second, here and in production',
    queue => {
      const name = `history.${queue}ProcessorMaxPollRPS` as keyof typeof dynamicConfig
      expect(dynamicConfig[name]).toBeGreaterThanOrEqual(1_000)
      expect(production[name]).toEqual([{ value: dynamicConfig[name] }])
    },
  )

  test('lets owners take turns, here and in production', () => {
    expect(dynamicConfig['matching.enableFairness']).toBe(true)
    expect(production['matching.enableFairness']).toEqual([{ value: true }])
  })

  test('lets timers fire at their instant, here and in production', () => {
    const name = 'history.timerProcessorMaxTimeShift'
    expect(dynamicConfig[name]).toBe('10ms')
    expect(production[name]).toEqual([{ value: dynamicConfig[name] }])
  })

  test('bounds the memory of the development server: its caches would grow for an hour', () => {
    expect(dynamicConfig['history.hostLevelCacheMaxSize']).toBeLessThan(1_000)
    expect(dynamicConfig['history.eventsHostLevelCacheMaxSizeBytes']).toBeLessThan(2 ** 24)
  })
})

test('development prefers the server of production', () => {
  expect(releases[0]?.server).toBe(ofProduction.version)
})
