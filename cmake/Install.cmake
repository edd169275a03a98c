# Installs the program and, where it can print them, its shell completions.
include(GNUInstallDirs)
install(TARGETS assay RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(CODE "
  foreach(pair IN ITEMS
      \"bash:${CMAKE_INSTALL_DATADIR}/bash-completion/completions/assay\"
      \"zsh:${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_assay\"
      \"fish:${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/assay.fish\")
    string(REPLACE \":\" \";\" parts \"\${pair}\")
    list(GET parts 0 shell)
    list(GET parts 1 file)
    execute_process(COMMAND \"$<TARGET_FILE:assay>\" completion \${shell}
      OUTPUT_VARIABLE text RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed AND text)
      set(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${file}\")
      file(WRITE \"\${place}\" \"\${text}\")
      message(STATUS \"Installing: \${place}\")
    endif()
  endforeach()")
