import { z } from 'zod'
import type { Area, Areas } from '../kernel/contract/area.ts'
import { personalTableOf } from '../kernel/database/personal.ts'
import { keysOf } from '../values/collections.ts'
import type { PersonalAddition, PersonalArea, PersonalData, PersonalTable } from '../values/personal.ts'

/**
 * The areas whose tables data protection covers, with the descriptions of their contracts. Built once, at the
 * first use.
 */
export function personalAreasOf(areas: Areas): () => readonly PersonalArea[] {
  let known: readonly PersonalArea[] | undefined
  return () => {
    known ??= [...personalDataOf(areas)].map(([area, tables]) => {
      const { key, name, about } = area
      return { key, name, about, tables, sentences: sentencesOf(area) }
    })
    return known
  }
}

/** The tables of each area that has some, with what other areas add to them. */
export function personalDataOf(areas: Areas): ReadonlyMap<Area & { readonly key: string }, PersonalData> {
  const additions = Object.values(areas).flatMap(({ personalAdditions }: Area) =>
    Object.entries(personalAdditions),
  )
  const withAdditions = ([table, entry]: readonly [string, PersonalTable]) =>
    [
      table,
      joined(
        table,
        entry,
        additions.flatMap(([name, addition]) => (name === table ? addition : [])),
      ),
    ] as const
  return new Map(
    Object.entries<Area>(areas).flatMap(([key, area]) => {
      const tables = tablesOf(area).map(withAdditions)
      return tables.length > 0 ? [[{ ...area, key }, Object.fromEntries(tables)]] : []
    }),
  )
}

const tablesOf = ({ entities, personal }: Area): (readonly [string, PersonalTable])[] => [
  ...entities.map(personalTableOf),
  ...Object.entries(personal),
]

/** A record that one area says was paid is kept, also where another says that it is unpaid. */
function joined(table: string, entry: PersonalTable, additions: readonly PersonalAddition[]): PersonalTable {
  if (additions.length === 0) return entry
  const unpaid = additions.flatMap(addition => addition.unpaid ?? [])
  const paid = additions.flatMap(addition => addition.paid ?? [])
  const keptWhile = entry.keptWhile ?? additions.find(addition => addition.keptWhile)?.keptWhile
  const { where: own = 'true', words } = keptWhile ?? {}
  if (unpaid.length + paid.length > 0 && words === undefined)
    throw new Error(`${table}: its own noun has no words for which records are kept`)
  const kept = [own, ...unpaid.map(condition => `not (${condition})`)].map(one => `(${one})`).join(' and ')
  const where = [kept, ...paid].map(one => `(${one})`).join(' or ')
  return {
    ...entry,
    ...(words !== undefined && { keptWhile: { where, words } }),
    about: additions.reduce(withSubjects, entry.about ?? {}),
  }
}

type Subjects = NonNullable<PersonalTable['about']>

const withSubjects = (known: Subjects, { about = {} }: PersonalAddition): Subjects => ({
  ...known,
  ...Object.fromEntries(
    keysOf(about).map(subject => [subject, [...(known[subject] ?? []), ...(about[subject] ?? [])]]),
  ),
})

function sentencesOf({ api }: Area): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const seen = new Set<z.ZodType>()
  const visit = (schema: z.ZodType): void => {
    if (seen.has(schema)) return
    seen.add(schema)
    if (schema instanceof z.ZodObject)
      for (const [name, member] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
        const sentence = descriptionOf(member)
        if (sentence && !found.has(name)) found.set(name, sentence)
        visit(member)
      }
    for (const inner of insideOf(schema)) visit(inner)
  }
  for (const { returns } of Object.values(api)) visit(returns[1])
  return found
}

function descriptionOf(schema: z.ZodType): string | undefined {
  const own = schema.meta()?.description
  if (own) return own
  return schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? descriptionOf(schema.unwrap() as z.ZodType)
    : undefined
}

function insideOf(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType]
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return [schema.unwrap() as z.ZodType]
  return schema instanceof z.ZodUnion ? [...(schema.options as readonly z.ZodType[])] : []
}
