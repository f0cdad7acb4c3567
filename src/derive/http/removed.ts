const REPORTS = [
  '/analytics/agents/costs',
  '/analytics/merchants',
  '/analytics/anomalies',
  '/analytics/allocation',
] as const

/** Addresses that a version removed, and what replaces them. They are named until the next version. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ...REPORTS.map((path): [string, string] => [
    `${path}/csv`,
    `GET ${path} with Accept: text/csv answers the same table.`,
  ]),
  ['/mcc-groups', 'GET /merchants/mcc lists the categories, each with its groups.'],
  ['/analytics/savings', 'GET /analytics/agents/costs shows what was denied and what came back.'],
  ['/analytics/savings/csv', 'GET /analytics/agents/costs shows what was denied and what came back.'],
  ['/merchants/me/rotate-key', 'Merchants have no keys any more: the operator keeps their applications.'],
])

export function removedAddressMessage(url: string): string | undefined {
  const [path = ''] = url.split('?', 1)
  const instead = REMOVED.get(path.replace(/^\/v1(?=\/)/, ''))
  return instead && `0.8.0 removed this address. ${instead}`
}
