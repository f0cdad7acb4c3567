import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { healthApi } from './api.ts'

export const SERVICE_VERSION = '0.8.0'

const health = bindHandlers(healthApi, {
  async health(_, { settings, service, refuse }) {
    const checks = await service.health()
    if (checks.database !== 'ok') return refuse('database_unreachable')
    return { status: 'ok' as const, version: SERVICE_VERSION, checks, live: settings.liveRails }
  },

  about(_, { headers: { accept }, refuse }) {
    if (accept?.includes('text/html')) return withHeaders(refuse('page_for_people'), { Location: 'console' })
    return {
      name: 'Agent Payments',
      version: SERVICE_VERSION,
      links: {
        docs: '/docs',
        openapi: '/openapi.json',
        health: '/health',
        wellKnown: '/.well-known/agent-payments',
      },
    }
  },

  async metrics(_, { service }) {
    return { type: 'text/plain; version=0.0.4; charset=utf-8', content: await service.metrics() }
  },
})

export const healthArea = area('Health', 'Health and information about the interface itself.', health)
