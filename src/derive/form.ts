/** A form has no null: its text would be taken for a member's own. A member that is left out is null. */
export function formDataFromBody(body: unknown): FormData | undefined {
  const members = Object.entries(Object(body) as object)
  if (!members.some(([, value]) => value instanceof Blob)) return undefined
  const form = new FormData()
  for (const [name, value] of members) {
    if (value instanceof Blob) form.append(name, value)
    else if (value !== undefined && value !== null)
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return form
}
