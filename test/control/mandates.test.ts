import './mandates/inside-or-outside.ts'
import './mandates/spending.ts'
