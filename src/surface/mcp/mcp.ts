import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { RawRequest } from '../../kernel/contract/raw-request.ts'
import type { PersonalData } from '../../values/personal.ts'
import { mcpApi } from './api.ts'

const mcpPersonal = {
  tool_calls: { personal: {}, plain: ['caller_id', 'hash', 'key'] },
} as const satisfies PersonalData

/**
 * Prevents DNS rebinding and calls from other sites through a browser. `host` is the requested address if it
 * is one of the service's, otherwise its first one.
 */
function foreignPart({ headers, host }: Pick<RawRequest, 'headers' | 'host'>) {
  if (!isSame(headers.host ?? '', host)) return 'foreign_host'
  if (headers.origin === undefined) return undefined
  return isSame(hostOf(headers.origin), host) ? undefined : 'foreign_origin'
}

const isSame = (given: string, own: string): boolean => {
  const asked = given.toLowerCase()
  return asked === own || asked.replace(/:(80|443)$/, '') === own
}

function hostOf(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  return url && ['http:', 'https:'].includes(url.protocol) ? url.host : ''
}

const mcp = bindHandlers(mcpApi, {
  async message(_, context) {
    const foreign = foreignPart(context)
    if (foreign) return context.refuse(foreign)
    // Most processes never serve an assistant, so the protocol is loaded with the first message.
    const { serveMcp: serve } = await import('./serve.ts')
    return serve(context)
  },
})

export const mcpArea = area(
  'Assistants',
  'The operations as tools of assistants, by the Model Context Protocol.',
  mcp,
  {
    personal: mcpPersonal,
    expiring: [{ table: 'tool_calls', column: 'last_called_at', keptMs: 600_000 }],
  },
)
