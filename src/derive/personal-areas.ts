import { z } from 'zod'
import type { Area, Areas } from '../kernel/contract/area.ts'
import type { PersonalArea } from '../values/personal.ts'

/**
 * The areas whose tables data protection covers, with the descriptions of their contracts. Built once, at the
 * first use.
 */
export function personalAreasOf(areas: Areas): () => readonly PersonalArea[] {
  let known: readonly PersonalArea[] | undefined
  return () => {
    known ??= Object.entries(areas).flatMap(([key, area]) =>
      Object.keys(area.personal).length === 0
        ? []
        : [
            {
              key,
              name: area.name,
              about: area.about,
              tables: area.personal,
              sentences: sentencesOf(area),
            },
          ],
    )
    return known
  }
}

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
