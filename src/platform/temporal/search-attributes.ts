import type { Connection } from '@temporalio/client'
import searchAttributes from '../../../temporal-config/search-attributes.json' with { type: 'json' }

/** The server's names for the types. */
const TYPES: Readonly<Record<string, number>> = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
}

/** Registers our search attributes in a namespace; existing ones are left as they are. */
export async function addSearchAttributes({ operatorService }: Connection, namespace: string): Promise<void> {
  const types = Object.entries(searchAttributes).map(([name, type]) => [name, TYPES[type] ?? 0])
  await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(types) })
}
