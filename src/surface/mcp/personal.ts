import type { Personal } from '../../values/personal.ts'

export const mcpPersonal = {
  tool_calls: { personal: {}, plain: ['caller_id', 'hash', 'key'] },
} as const satisfies Personal
