import './mandates/changes.ts'
import './mandates/inside-or-outside.ts'
import './mandates/making.ts'
import './mandates/spending.ts'
