# From the output of ctest over GoogleTest programs: what the failing tests printed, and the last words of programs that died.
function flush_block() {
  printf "%s", block
  block = ""
}
/^\[ RUN      \]/ { block = $0 "\n"; inside = 1; next }
/^\[       OK \]/ { block = ""; inside = 0; next }
/^\[  FAILED  \]/ { if (inside) { block = block $0 "\n"; flush_block() } inside = 0; next }
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / || /^ *Start +[0-9]+: / {
  if (inside) flush_block()
  inside = 0
  if (/\*\*\*/) print
  next
}
inside { block = block $0 "\n"; next }
/ERROR: (Address|Leak)Sanitizer/ { sanitizer = 40 }
sanitizer > 0 { print; sanitizer-- }
END { if (inside) flush_block() }
