import { startTestService } from '../../support/harness.ts'

export const service = await startTestService({ own: true })
export const { dash } = service

export const ada = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  type: 'individual',
  country: 'GB',
} as const
export const berlin = { line1: 'Torstraße 1', city: 'Berlin', postalCode: '10119', country: 'DE' } as const
