import type { Context } from '../../kernel/contract/context.ts'

/**
 * Whether another site makes a browser of ours speak, as by a name that it has pointed at us. `host` is the address that was
 * asked where it is one of ours, and our first one otherwise.
 */
export function foreignPart({ headers, host }: Pick<Context, 'headers' | 'host'>) {
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
